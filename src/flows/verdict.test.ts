import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  FAMILIES,
  type Forwarding,
  type Frontend,
  type Protocol,
  servicePortKey,
} from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { addressText } from '../linux/conntrack/address-bytes.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import { BegunFrontends, BegunRows } from './begun.ts';
import { PROTOCOL_NUMBERS } from './flow-keys.ts';
import { FrontendIndex } from './frontend-index.ts';
import { addNeed, type Needs } from './needs.ts';
import { flow } from './testing/fake-conntrack.ts';
import { row } from './testing/flow-rows.ts';
import { type Grounds, Judge, type TryGrounds } from './verdict.ts';

const NODE_ADDRESSES = ['192.168.0.1', 'fd00:1::1'];
const ADDRESSES = {
  IPv4: ['10.96.0.1', '10.96.0.2', '192.168.0.1', '192.168.0.2'],
  IPv6: ['fd00:96::1', 'fd00:96::2', 'fd00:1::1', 'fd00:1::2'],
};
const PORTS = [53, 54];
const TRACKED: readonly Protocol[] = ['UDP', 'SCTP'];

type State = readonly Forwarding[];

/** The rule over plain lists and strings: slow, but simple enough to be correct. */
class Reference {
  readonly #history: Forwarding[] = [];
  #rows: State = [];

  enter(state: State): void {
    this.#rows = state;
    this.#history.push(...state);
  }

  forget(): void {
    this.#history.length = 0;
    this.#history.push(...this.#rows);
  }

  isStale(flow: Flow): boolean {
    if (flow.zone !== 0) return false;
    const current = this.#rows.filter((candidate) => serves(candidate, flow));
    if (current.length > 0) return !current.some((candidate) => forwardsTo(candidate, flow));
    const former = this.#history.filter((candidate) => serves(candidate, flow));
    const isTranslated =
      flow.reply.source !== flow.original.destination ||
      flow.reply.sourcePort !== flow.original.destinationPort;
    return isTranslated && former.some((candidate) => forwardsTo(candidate, flow));
  }
}

function serves({ id, frontends }: Forwarding, { version, protocol, original }: Flow): boolean {
  const destination = addressText(original.destination);
  const isServedAt = ({ kind, address, port, notServed }: Frontend): boolean =>
    notServed === undefined &&
    port === original.destinationPort &&
    (kind === 'node-port' ? NODE_ADDRESSES.includes(destination) : address === destination);
  return (
    TRACKED.includes(id.protocol) &&
    PROTOCOL_NUMBERS[id.protocol] === protocol &&
    id.family === `IPv${version}` &&
    frontends.some(isServedAt)
  );
}

function forwardsTo({ clusterEndpoints, localEndpoints }: Forwarding, { reply }: Flow): boolean {
  return [...clusterEndpoints, ...localEndpoints].some(
    ({ address, port }) => address === addressText(reply.source) && port === reply.sourcePort,
  );
}

const family = fc.constantFrom(...FAMILIES);
const place = (family: 'IPv4' | 'IPv6') =>
  fc.tuple(fc.constantFrom(...ADDRESSES[family]), fc.constantFrom(...PORTS));
const text = (family: 'IPv4' | 'IPv6') =>
  place(family).map(([address, port]) => `${address} ${port}`);

/** Endpoints and frontends come from one pool, so that an endpoint may be its own frontend. */
const anyRow = fc.tuple(family, fc.constantFrom('a', 'b', 'c')).chain(([ofFamily, service]) =>
  fc
    .record({
      protocol: fc.constantFrom<Protocol>('UDP', 'UDP', 'SCTP', 'TCP'),
      frontends: fc.array(
        fc.oneof(
          text(ofFamily),
          fc.constantFrom(...PORTS).map((port) => `node-port ${port}`),
        ),
        { maxLength: 3 },
      ),
      endpoints: fc.array(text(ofFamily), { maxLength: 3 }),
      localEndpoints: fc.array(text(ofFamily), { maxLength: 1 }),
    })
    .map((sketch) => row({ ...sketch, service, family: ofFamily })),
);

/** As in the model: a later Service does not get an address that has an owner. */
const anyState = fc
  .uniqueArray(anyRow, { maxLength: 6, selector: ({ id }) => servicePortKey(id) })
  .map((rows): State => {
    const taken = new Set<string>();
    return rows.map((one) => ({
      ...one,
      frontends: one.frontends.map((frontend) => {
        const { family: of, protocol } = one.id;
        const claim = [of, protocol, frontend.kind, frontend.address, frontend.port].join();
        if (taken.has(claim)) return { ...frontend, notServed: { reason: 'host-socket' as const } };
        taken.add(claim);
        return frontend;
      }),
    }));
  });

const anyFlow = family.chain((family) =>
  fc
    .record({
      protocol: fc.constantFrom(6, 17, 17, 17, 132),
      destination: place(family),
      answeredBy: fc.option(place(family), { freq: 3 }),
      zone: fc.constantFrom(0, 0, 0, 0, 1),
    })
    .map(({ protocol, destination, answeredBy, zone }) =>
      flow(
        {
          protocol,
          client: [family === 'IPv4' ? '10.1.0.1' : 'fd00:2::1', 4000],
          destination,
          answeredBy: answeredBy ?? destination,
        },
        { zone },
      ),
    ),
);

function changesBetween(from: State, to: State): Change[] {
  const before = new Map(from.map((one) => [servicePortKey(one.id), one]));
  const after = new Map(to.map((one) => [servicePortKey(one.id), one]));
  return [...new Set([...before.keys(), ...after.keys()])].map((key) => ({
    key,
    before: before.get(key),
    after: after.get(key),
  }));
}

const NO_TRIES: TryGrounds = {
  begun: new BegunFrontends(new BegunRows(), () => false),
  isLeftUnanswered: () => true,
};

function judgeFor(index: FrontendIndex, needs: Needs, more: Partial<Grounds> = {}): Judge {
  return new Judge({
    needs,
    owner: (key) => index.owner(key),
    isNodePortAddress: (address) => NODE_ADDRESSES.includes(addressText(address)),
    isServing: () => false,
    tries: NO_TRIES,
    ...more,
  });
}

describe('stale flows', () => {
  it('are those that the rule names, for any changes between two scans', () => {
    const step = fc.record({ state: anyState, looks: fc.boolean() });
    const steps = fc.array(step, { minLength: 1, maxLength: 5 });
    const flows = fc.array(anyFlow, { minLength: 10, maxLength: 40 });
    let stale = 0;
    fc.assert(
      fc.property(steps, flows, (someSteps, someFlows) => {
        const index = new FrontendIndex();
        const reference = new Reference();
        let [left, state, needs]: [Flow[], State, Needs] = [someFlows, [], new Map()];
        for (const { state: next, looks } of someSteps) {
          const added = index.acknowledge(changesBetween(state, next));
          for (const [key, need] of added) addNeed(needs, key, need);
          reference.enter(next);
          state = next;
          if (!looks) continue;
          const judge = judgeFor(index, needs);
          const kept = left.filter((one) => judge.judge(one).is !== 'stale');
          assert.deepEqual(
            kept,
            left.filter((one) => !reference.isStale(one)),
          );
          stale += left.length - kept.length;
          [left, needs] = [kept, new Map()];
          reference.forget();
        }
      }),
      { numRuns: 2000 },
    );
    assert.ok(stale > 1000, `only ${stale} flows were stale: nothing was compared`);
  });
});

const OURS = row({ service: 'dns', frontends: ['10.96.0.10 53'], endpoints: ['10.1.0.1 5353'] });

describe('a scan', () => {
  const needsAfter = (after: Forwarding | undefined, before?: Forwarding): number => {
    const index = new FrontendIndex();
    const key = servicePortKey(OURS.id);
    index.acknowledge([{ key, before: undefined, after: before }]);
    return index.acknowledge([{ key, before, after }]).size;
  };
  const twoEndpoints = row({
    service: 'dns',
    frontends: ['10.96.0.10 53'],
    endpoints: ['10.1.0.1 5353', '10.1.0.2 5353'],
  });

  it('is needed for a new frontend, a lost endpoint, a lost frontend', () => {
    assert.equal(needsAfter(OURS), 1);
    assert.equal(needsAfter(OURS, twoEndpoints), 1);
    assert.equal(needsAfter(undefined, OURS), 1);
  });

  it('is not needed for one more endpoint, nor for another timeout', () => {
    assert.equal(needsAfter(twoEndpoints, OURS), 0);
    assert.equal(needsAfter({ ...OURS, affinitySeconds: 10 }, OURS), 0);
  });

  it('is not needed for a change of TCP', () => {
    const web = row({
      service: 'dns',
      protocol: 'TCP',
      frontends: ['10.96.0.10 53'],
      endpoints: [],
    });
    assert.equal(needsAfter(web), 0);
  });
});
