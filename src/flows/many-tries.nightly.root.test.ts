import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { insertFlows, type NewFlow, newFlow } from '../linux/conntrack/testing/insert.ts';
import { enterOwnNetwork, run } from '../linux/netlink/testing/own-namespace.ts';
import { measured, measuredWithShortTurns } from './testing/cost.ts';
import { change, row } from './testing/flow-rows.ts';

enterOwnNetwork();

const CONNECTIONS = 200_000;
const TRIES = 1000;
const SERVICES = 50_000;
const TCP = 6;
const ENDPOINT = '10.244.0.1';

function serviceAddress(index: number): string {
  return `10.96.${index >> 8}.${index & 255}`;
}

function clientAddress(index: number): string {
  return `10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

/** Established ones, one of two to a Service; and a try for each of the first Services. */
function* connections(): Generator<NewFlow> {
  for (let index = 0; index < CONNECTIONS; index++) {
    const client = [clientAddress(index), 4000] as const;
    const isOurs = index % 2 === 0;
    const destination = [isOurs ? serviceAddress(index % SERVICES) : '8.8.8.8', 80] as const;
    const answeredBy = isOurs ? ([ENDPOINT, 8080] as const) : destination;
    yield newFlow({ protocol: TCP, client, destination, answeredBy });
  }
}

function* tries(): Generator<NewFlow> {
  for (let index = 0; index < TRIES; index++) {
    const client = [clientAddress(index), 5000] as const;
    const destination = [serviceAddress(index), 80] as const;
    const about = { protocol: TCP, client, destination, answeredBy: destination };
    yield { ...newFlow(about), isTry: true };
  }
}

function most(): number {
  return Number(readFileSync('/proc/sys/net/netfilter/nf_conntrack_max', 'utf8'));
}

function flowsInKernel(): number {
  return Number(run(['conntrack', '-C']).trim());
}

const skip = most() < CONNECTIONS + TRIES && 'nf_conntrack_max is too small';

describe(`with ${CONNECTIONS} connections and ${SERVICES} Services of TCP`, { skip }, () => {
  const rows = Array.from({ length: SERVICES }, (_, index) =>
    row({
      service: `s${index}`,
      protocol: 'TCP',
      frontends: [`${serviceAddress(index)} 80`],
      endpoints: [`${ENDPOINT} 8080`],
    }),
  );
  const late = row({
    ...{ service: 'late', protocol: 'TCP', frontends: ['10.97.0.1 80'] },
    endpoints: [`${ENDPOINT} 8080`],
  });

  before(async () => {
    await insertFlows(connections());
  });

  it('reads all connections at the start and keeps them', async () => {
    const { seen, deleted } = await measuredWithShortTurns('start, no tries', (reconciler) => {
      reconciler.adopt(rows);
    });
    assert.deepEqual([seen, deleted], [0, 0]);
  });

  it('searches flows of a Service that is added later without blocking the event loop', async () => {
    const { seen, deleted } = await measuredWithShortTurns('one more Service', (reconciler) => {
      reconciler.acknowledged([change(undefined, late)]);
    });
    assert.deepEqual([seen, deleted], [0, 0]);
  });

  it('finds every unanswered attempt at the start and deletes nothing else', async () => {
    await insertFlows(tries());
    const { result } = await measured('start, with tries', (reconciler) => {
      reconciler.adopt(rows);
    });
    assert.deepEqual([result.seen, result.deleted], [TRIES, TRIES]);
    assert.equal(flowsInKernel(), CONNECTIONS);
  });
});
