import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Change } from './row-changes.ts';
import { ForwardingTable } from './table.ts';
import { elsewhere, service, slice, view } from './testing/example-objects.ts';

function put(table: ForwardingTable, name: string, endpoints = 1): void {
  const [namespace = '', short = ''] = name.split('/');
  const all = Array.from({ length: endpoints }, (_, i) => elsewhere(`10.0.${i >> 8}.${i & 0xff}`));
  table.putService(service({ namespace, name: short, clusterIPs: ['10.96.0.1'] }));
  table.putSlice(slice(all, { namespace, service: short, name: `${short}-1` }));
}

function services(changes: readonly Change[]): string[] {
  return changes.map(({ key }) => key.split('/', 2).join('/'));
}

function flooded(count: number): ForwardingTable {
  const table = new ForwardingTable(view());
  for (let i = 0; i < count; i++) put(table, `flood/${String(i).padStart(4, '0')}`);
  return table;
}

describe('takeChanges() with a limit', () => {
  it('alternates between namespaces, oldest first in each', () => {
    const table = new ForwardingTable(view());
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1']) put(table, name);
    const order: string[] = [];
    while (table.hasChanges) order.push(...services(table.takeChanges(1)));
    assert.deepEqual(order, ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3']);
  });

  it('stops at the limit and reports that there is more', () => {
    const table = flooded(100);
    const first = table.takeChanges(30);
    assert.ok(first.length >= 5 && first.length <= 30, `${first.length} changes`);
    assert.equal(table.hasChanges, true);
    assert.equal(first.length + table.takeChanges().length, 100);
    assert.equal(table.hasChanges, false);
    assert.deepEqual(table.takeChanges(30), []);
  });

  it('compiles one Service, however large, and no more', () => {
    const table = new ForwardingTable(view());
    put(table, 'a/huge', 900);
    put(table, 'a/next');
    assert.deepEqual(services(table.takeChanges(10)), ['a/huge']);
    assert.deepEqual(services(table.takeChanges(10)), ['a/next']);
  });

  it('returns what is compiled without waiting for a large Service behind it', () => {
    const table = new ForwardingTable(view());
    put(table, 'quiet/web');
    put(table, 'flood/huge', 900);
    assert.deepEqual(services(table.takeChanges(100)), ['quiet/web']);
    assert.deepEqual(services(table.takeChanges(100)), ['flood/huge']);
  });

  it('serves a namespace that asks for little in the next call', () => {
    const table = flooded(1000);
    table.takeChanges(50);
    put(table, 'quiet/web');
    assert.ok(services(table.takeChanges(50)).includes('quiet/web'));
    put(table, 'quiet/web', 3);
    assert.ok(services(table.takeChanges(1)).includes('quiet/web'));
  });

  it('does not let a namespace ahead that changes one huge Service again and again', () => {
    const table = new ForwardingTable(view());
    for (let i = 0; i < 5; i++) {
      put(table, 'flood/huge', 900 - i);
      put(table, 'flood/other', 900 - i);
      put(table, 'quiet/web', 1 + i);
      assert.deepEqual(services(table.takeChanges(10))[0], 'quiet/web');
    }
  });

  it('compiles a Service at once when its rows are read, and still reports the change', () => {
    const table = flooded(3);
    assert.equal(table.ofService('flood/0002').length, 1);
    assert.deepEqual(services(table.takeChanges(1)), ['flood/0002', 'flood/0000']);
    assert.deepEqual(services(table.takeChanges(1)), ['flood/0001']);
    assert.equal(table.hasChanges, false);
  });

  it('reports no change that was undone while it was queued', () => {
    const table = flooded(3);
    table.takeChanges();
    for (const name of ['flood/0000', 'flood/0001', 'flood/0002']) put(table, name, 2);
    assert.deepEqual(services(table.takeChanges(1)), ['flood/0000']);
    put(table, 'flood/0002', 1);
    assert.deepEqual(services(table.takeChanges()), ['flood/0001']);
    assert.equal(table.hasChanges, false);
  });

  it('queues a Service again whose rows were read and are stale again', () => {
    const table = flooded(1);
    table.takeChanges();
    put(table, 'flood/0000', 2);
    table.ofService('flood/0000');
    put(table, 'flood/0000', 1);
    assert.deepEqual(table.takeChanges(), []);
  });

  it('loses nothing, for any limits', () => {
    const step = fc.record({ name: fc.nat(5), endpoints: fc.nat(4), most: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const table = new ForwardingTable(view());
        const applied = new Map<string, unknown>();
        const apply = (changes: readonly Change[]) => {
          for (const { key, before, after } of changes) {
            assert.deepEqual(applied.get(key), before);
            applied.set(key, after);
          }
        };
        for (const { name, endpoints, most } of steps) {
          const full = `${name % 2 ? 'a' : 'b'}/${name}`;
          if (endpoints === 4) table.deleteService(full);
          else put(table, full, endpoints);
          if (most > 4) apply(table.takeChanges(most));
        }
        while (table.hasChanges) apply(table.takeChanges(1));
        for (const name of table.serviceNames()) {
          const [row] = table.ofService(name);
          assert.deepEqual(applied.get(`${name}/TCP/IPv4`), row);
        }
      }),
    );
  });
});

describe('a Service that is too large for one call', () => {
  const SLICES = 40;
  const LIMIT = 4_000;

  /** So many ports, each with so many endpoints as a slice may have. */
  function putHuge(table: ForwardingTable, ports: number, slices = SLICES): void {
    const names = Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, port: 1_000 + i }));
    const listed = names.map((each) => ({ ...each, protocol: 'TCP' as const }));
    const more = { nodePort: 0, protocol: 'TCP' as const };
    table.putService(
      service({
        namespace: 'flood',
        name: 'huge',
        clusterIPs: ['10.96.0.1'],
        ports: names.map((p) => ({ ...p, ...more })),
      }),
    );
    for (let s = 0; s < slices; s++) {
      const all = Array.from({ length: 1_000 }, (_, i) =>
        elsewhere(`10.${s}.${i >> 8}.${i & 0xff}`),
      );
      const of = {
        namespace: 'flood',
        service: 'huge',
        name: `huge-${String(s).padStart(3, '0')}`,
      };
      table.putSlice(slice(all, { ...of, ports: listed }));
    }
  }

  /** Calls until nothing is left, and what each of them gave. */
  function calls(table: ForwardingTable, between: (call: number) => void = () => undefined) {
    const given: string[][] = [];
    while (table.hasChanges && given.length < 1_000) {
      given.push(services(table.takeChanges(LIMIT)));
      between(given.length);
    }
    return given;
  }

  for (const [what, ports, slices] of [
    ['one port with many slices', 1, SLICES],
    ['many ports with one slice', SLICES, 1],
  ] as const) {
    it(`is compiled in calls of about the limit: ${what}`, () => {
      const table = new ForwardingTable(view());
      putHuge(table, ports, slices);
      const given = calls(table);
      assert.ok(given.length >= (SLICES * 1_000) / LIMIT, `${given.length} calls`);
      assert.deepEqual(new Set(given.slice(0, -1).flat()), new Set());
      assert.equal(given.at(-1)?.length, ports);
      assert.equal(table.ofService('flood/huge')[0]?.clusterEndpoints.length, slices * 1_000);
    });
  }

  it('lets changes of others pass in every call', () => {
    const table = new ForwardingTable(view());
    putHuge(table, 1);
    const given = calls(table, (call) => call < 5 && put(table, 'quiet/web', call));
    for (const call of [1, 2, 3, 4]) assert.deepEqual(given[call], ['quiet/web']);
  });

  it('is reported although its slices go on changing', () => {
    const table = new ForwardingTable(view());
    putHuge(table, 1);
    let reported = 0;
    for (let call = 0; call < 2 * SLICES; call++) {
      putHuge(table, 1, 1 + (call % 2));
      reported += table.takeChanges(LIMIT).length;
    }
    assert.ok(reported > 0, 'it was never reported');
  });

  it('is not reported when it was deleted meanwhile', () => {
    const table = new ForwardingTable(view());
    putHuge(table, 1);
    table.takeChanges(LIMIT);
    table.deleteService('flood/huge');
    assert.deepEqual(calls(table).flat(), []);
    assert.deepEqual(table.rows(), []);
  });

  it('is complete when its rows are read meanwhile', () => {
    const table = new ForwardingTable(view());
    putHuge(table, 1);
    table.takeChanges(LIMIT);
    assert.equal(table.ofService('flood/huge')[0]?.clusterEndpoints.length, SLICES * 1_000);
    assert.deepEqual(services(table.takeChanges(LIMIT)), ['flood/huge:p0']);
  });
});
