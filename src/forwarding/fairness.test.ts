import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Change } from './changes.ts';
import { ForwardingTable } from './table.ts';
import { elsewhere, service, slice, view } from './testing/objects.ts';

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
