import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';
import { differencesOf, isRight } from './truth.ts';

function tableOf(services: Readonly<Record<string, number>>): ForwardingTable {
  const table = new ForwardingTable(unknownNode('node1'));
  for (const [name, port] of Object.entries(services)) {
    const raw = {
      metadata: { namespace: 'default', name },
      spec: { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ports: [{ port }] },
    };
    const found = narrow('service', raw, new Interner());
    assert.ok(found);
    table.putService(found.object);
  }
  return table;
}

it('differencesOf() finds what is lost, what is a phantom and what is stale', () => {
  const found = differencesOf(
    tableOf({ same: 1, old: 2, stays: 3 }),
    tableOf({ same: 1, new: 4, stays: 5 }),
  );
  assert.deepEqual(found, {
    lost: ['default/new/TCP/IPv4'],
    phantom: ['default/old/TCP/IPv4'],
    stale: ['default/stays/TCP/IPv4'],
  });
  assert.equal(isRight(found), false);
});

it('differencesOf() finds nothing between equal tables', () => {
  assert.ok(isRight(differencesOf(tableOf({ same: 1 }), tableOf({ same: 1 }))));
});
