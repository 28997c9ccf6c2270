import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { NodeView } from '../../forwarding/model.ts';
import { ForwardingTable } from '../../forwarding/table.ts';
import { unknownNode } from '../../forwarding/testing/unknown-node.ts';
import { partsOf } from './nftables-row.ts';
import { Numbers } from './numbers.ts';
import { newRowNumbers } from './row-numbers.ts';
import { allElements } from './row-plan.ts';
import { row } from './testing/nftables-rows.ts';

const POLICY = fc.constantFrom('Cluster', 'Local');
const FLAG = fc.boolean();

const SERVICE = fc.record({
  namespace: fc.constant('ns'),
  name: fc.constant('web'),
  createdAtSeconds: fc.constant(1),
  labels: fc.constant({}),
  type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
  clusterIPs: fc.constant(['10.96.0.1']),
  externalIPs: fc.subarray(['198.18.0.1']),
  loadBalancerIPs: fc.constant([{ ip: '198.18.0.2', ipMode: 'VIP' as const }]),
  loadBalancerSourceRanges: fc.subarray(['10.0.0.0/8', '172.16.0.0/12']),
  ports: fc.constant([{ name: '', protocol: 'TCP', port: 80, nodePort: 30_080 }]),
  externalTrafficPolicy: POLICY,
  internalTrafficPolicy: POLICY,
  affinitySeconds: fc.constantFrom(0, 10_800),
  healthCheckNodePort: fc.constant(0),
});

const SLICE = fc.record({
  namespace: fc.constant('ns'),
  name: fc.constant('web-1'),
  service: fc.constant('web'),
  headless: fc.constant(false),
  addressType: fc.constant('IPv4' as const),
  ports: fc.constant([{ name: '', protocol: 'TCP', port: 8080 }]),
  endpoints: fc.uniqueArray(
    fc.record({
      address: fc.nat(9).map((host) => `10.244.0.${host + 1}`),
      nodeName: fc.constantFrom('here', 'there'),
      ready: FLAG,
      serving: FLAG,
      terminating: FLAG,
    }),
    { maxLength: 5, selector: ({ address }) => address },
  ),
});

const VIEW: fc.Arbitrary<NodeView> = fc
  .record({ detects: FLAG, masqueradeAll: FLAG })
  .map(({ detects, masqueradeAll }) => ({
    ...unknownNode('here'),
    masqueradeAll,
    detectsPods: { IPv4: detects, IPv6: detects },
  }));

describe('a row', () => {
  it('can be expressed in nftables for every outcome', () => {
    const treatments = new Set<string>();
    fc.assert(
      fc.property(SERVICE, SLICE, VIEW, (service, slice, view) => {
        const table = new ForwardingTable(view);
        table.putService(service);
        table.putSlice(slice);
        for (const each of table.ofService('ns/web')) {
          const parts = partsOf(each, newRowNumbers());
          for (const { treatment } of parts.classes) treatments.add(treatment);
          const places = allElements(parts, new Map()).map(({ set, key }) => `${set} ${key}`);
          assert.equal(new Set(places).size, places.length, 'each element once');
        }
      }),
      { numRuns: 2000 },
    );
    const all = [
      ...['choose', 'cluster', 'local', 'local-host'],
      ...['masquerade', 'pick', 'plain', 'short'],
    ];
    assert.deepEqual([...treatments].sort(), all, 'every treatment has been needed');
  });

  it('has no elements for an address that another Service owns', () => {
    const [first, ...rest] = row().frontends;
    assert.ok(first);
    const lost = {
      ...row(),
      frontends: [
        { ...first, notServed: { reason: 'other-service' as const, service: 'ns/older' } },
        ...rest,
      ],
    };
    const without = { ...row(), frontends: rest };
    assert.deepEqual(partsOf(lost, newRowNumbers()), partsOf(without, newRowNumbers()));
  });

  it('releases its number, which another row can then use', () => {
    const numbers = new Numbers(4);
    for (let round = 0; round < 100; round++) {
      const name = `row ${round}`;
      assert.ok(numbers.of(name) < 16);
      if (round % 2 === 0) numbers.release(name);
      else numbers.keepOnly(new Set());
      assert.equal(numbers.size, 0);
    }
  });

  it('keeps the number that the kernel has for it, unless another row has it', () => {
    const numbers = new Numbers();
    numbers.adopt('a', 7);
    numbers.adopt('b', 7);
    numbers.adopt('a', 8);
    assert.equal(numbers.of('a'), 7);
    assert.notEqual(numbers.of('b'), 7);
  });

  it('has the same numbers after a restart, and as many as there are names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 50 }), (names) => {
        const [one, other] = [new Numbers(), new Numbers()];
        const numbers = names.map((name) => one.of(name));
        assert.equal(new Set(numbers).size, names.length);
        assert.deepEqual(
          names.map((name) => other.of(name)),
          numbers,
        );
        assert.deepEqual(
          names.map((name) => one.of(name)),
          numbers,
        );
      }),
    );
  });
});
