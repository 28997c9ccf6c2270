import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { addressText } from '../linux/conntrack/address-bytes.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { insertFlows, type NewFlow, newFlow } from '../linux/conntrack/testing/insert.ts';
import { enterOwnNetwork, run } from '../linux/netlink/testing/own-namespace.ts';
import { measured, measuredWithShortTurns } from './testing/cost.ts';
import { change, row } from './testing/flow-rows.ts';
import { readTranslated } from './translated.ts';

enterOwnNetwork();

const FLOWS = 200_000;
const UDP = 17;

/** Half to one Service with two endpoints, half to the world. */
function* manyFlows(): Generator<NewFlow> {
  for (let index = 0; index < FLOWS; index++) {
    const client = [`10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`, 4000] as const;
    const isOurs = index % 2 === 0;
    const destination = [isOurs ? '10.96.0.10' : '8.8.8.8', 53] as const;
    const endpoint = [`10.244.0.${index % 4 === 0 ? 1 : 2}`, 53] as const;
    const answeredBy = isOurs ? endpoint : destination;
    yield newFlow({ protocol: UDP, client, destination, answeredBy });
  }
}

function most(): number {
  return Number(readFileSync('/proc/sys/net/netfilter/nf_conntrack_max', 'utf8'));
}

function flowsInKernel(): number {
  return Number(run(['conntrack', '-C']).trim());
}

describe(`with ${FLOWS} flows`, { skip: most() < FLOWS && 'nf_conntrack_max is too small' }, () => {
  const frontends = ['10.96.0.10 53'];
  const both = row({ service: 'dns', frontends, endpoints: ['10.244.0.1 53', '10.244.0.2 53'] });
  const one = row({ service: 'dns', frontends, endpoints: ['10.244.0.1 53'] });
  const others = Array.from({ length: 10 }, (_, index) =>
    row({ service: `other${index}`, frontends: [`10.96.1.${index} 53`], endpoints: [] }),
  );

  const elsewhere = row({ service: 'sip', frontends: ['10.96.2.1 5060'], endpoints: [] });

  before(async () => {
    await insertFlows(manyFlows());
  });

  it('a start with all flows valid reads them all and deletes none', async () => {
    const { seen, deleted } = await measuredWithShortTurns('start, all valid', (reconciler) => {
      reconciler.adopt([both, ...others]);
    });
    assert.deepEqual([seen, deleted], [FLOWS, 0]);
  });

  it('searches flows of a frontend that has none without blocking the event loop', async () => {
    const { seen, deleted } = await measuredWithShortTurns(
      'a frontend without flows',
      (reconciler) => {
        reconciler.acknowledged([change(undefined, elsewhere)]);
      },
    );
    assert.deepEqual([seen, deleted], [0, 0]);
  });

  it('lists the first translated flows and counts the others', async () => {
    const frontends = [
      { service: 'a/dns', protocol: 'UDP', family: 'IPv4', address: '10.96.0.10', port: 53 },
    ] as const;
    const { signal } = new AbortController();
    const { first, count } = await readTranslated(new KernelConntrack(), {
      frontends,
      most: 100,
      signal,
    });
    assert.equal(count, FLOWS / 2);
    const clients = first.map(({ flow }) => addressText(flow.original.source));
    assert.deepEqual(
      clients,
      Array.from({ length: 100 }, (_, index) => `10.1.0.${2 * index}`),
    );
  });

  it('deletes the 50,000 flows of an endpoint that is removed', async () => {
    const { result, longestTurnMs, mostTurnMs } = await measured(
      'an endpoint goes',
      (reconciler) => {
        reconciler.adopt([one]);
      },
    );
    assert.equal(result.deleted, FLOWS / 4);
    assert.ok(longestTurnMs < mostTurnMs, `a turn took ${longestTurnMs} of ${mostTurnMs} ms`);
    assert.equal(flowsInKernel(), FLOWS - FLOWS / 4);
  });
});
