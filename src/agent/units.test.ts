import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwarding } from '../forwarding/model.ts';
import { ForwardingTable } from '../forwarding/table.ts';
import { service, view } from '../forwarding/testing/example-objects.ts';
import { Outstanding } from './outstanding.ts';
import { unitsOf } from './units.ts';

function row(name: string, address: string): Forwarding {
  const table = new ForwardingTable(view());
  table.putService(service({ name, clusterIPs: [address] }));
  const [only = assert.fail()] = table.ofService(`ns/${name}`);
  return only;
}

/** The actual and the desired address of each row, by its last number. */
type Moves = Readonly<Record<string, readonly [from: string, to: string]>>;

function units(moves: Moves, take = Object.keys(moves).length): string[][] {
  const outstanding = new Outstanding();
  for (const [name, [from, to]] of Object.entries(moves)) {
    const before = from === '' ? undefined : row(name, `10.96.0.${from}`);
    const after = to === '' ? undefined : row(name, `10.96.0.${to}`);
    outstanding.change({ key: `ns/${name}/TCP/IPv4`, before, after }, 0);
  }
  const found = unitsOf(outstanding.takeFresh({ rows: take, objects: 10_000 }), (claim) =>
    outstanding.holderOf(claim),
  );
  return found.map((unit) => unit.map(({ id }) => id.service));
}

test('keeps the order of independent rows', () => {
  assert.deepEqual(units({ b: ['', '1'], a: ['2', ''], c: ['3', '3'] }), [['b'], ['a'], ['c']]);
});

test('puts a row that releases an address first, and includes it', () => {
  const moves: Moves = { heir: ['', '1'], other: ['', '9'], old: ['1', ''] };
  assert.deepEqual(units(moves), [['old'], ['heir'], ['other']]);
  assert.deepEqual(units(moves, 1), [['old'], ['heir']]);
});

test('orders a chain of them from its end', () => {
  const moves: Moves = { a: ['1', '2'], b: ['2', '3'], c: ['3', '4'] };
  assert.deepEqual(units(moves, 1), [['c'], ['b'], ['a']]);
});

test('joins rows that wait for each other', () => {
  assert.deepEqual(units({ a: ['1', '2'], b: ['2', '1'] }, 1), [['b', 'a']]);
  const three: Moves = { a: ['1', '2'], x: ['', '8'], b: ['2', '3'], c: ['3', '1'] };
  assert.deepEqual(units(three), [['c', 'b', 'a'], ['x']]);
});
