import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Endpoint, Forwarding } from '../../forwarding/model.ts';
import { toEnd } from '../../forwarding/turns.ts';
import { endpointPartsOf } from './nftables-row.ts';
import { newRowNumbers } from './row-numbers.ts';
import { planChange } from './row-plan.ts';
import { emptyState } from './state.ts';
import { row } from './testing/nftables-rows.ts';

const ENDPOINT = fc.record({
  address: fc.nat(5).map((host) => `10.244.0.${host}`),
  port: fc.constantFrom(80, 81),
  local: fc.boolean(),
});
const LIST = fc
  .uniqueArray(ENDPOINT, { maxLength: 8, selector: ({ address, port }) => `${address}:${port}` })
  .map((endpoints) => endpoints.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)));

const LISTS = fc.record({ clusterEndpoints: LIST, localEndpoints: LIST });

function keyOf({ address, port }: Endpoint): string {
  return `${address}:${port}`;
}

function hairpins(row: Forwarding): Set<string> {
  const { shared } = endpointPartsOf(row, newRowNumbers());
  return new Set(shared.filter(({ set }) => set === 'hairpin').map(({ key }) => key));
}

describe('the plan of changed endpoints', () => {
  it('adds and deletes the hairpins that differ, whichever list has them', () => {
    fc.assert(
      fc.property(LISTS, LISTS, (lists, listsAfter) => {
        const before = { ...row(), ...lists };
        const after = { ...before, ...listsAfter };
        const numbers = newRowNumbers();
        const of = { numbers, orders: new Map(), state: emptyState('ip') };
        const { steps } = toEnd(planChange(before, after, of));
        const keys = (kind: 'want' | 'unwant') =>
          new Set(steps.flatMap((s) => (s.do === kind ? s.elements.map(({ key }) => key) : [])));
        assert.deepEqual(keys('want'), hairpins(after).difference(hairpins(before)));
        assert.deepEqual(keys('unwant'), hairpins(before).difference(hairpins(after)));
      }),
    );
  });
});

describe('the plan of a row of very many endpoints', () => {
  const many = row({ endpointCount: 20_000 });
  const [, ...fewer] = many.clusterEndpoints;
  for (const [what, before, after] of [
    ['written', undefined, many],
    ['deleted', many, undefined],
    ['changed for the first time', many, { ...many, clusterEndpoints: fewer }],
  ] as const) {
    it(`is made with pauses when it is ${what}`, () => {
      const numbers = newRowNumbers();
      const of = { numbers, orders: new Map(), state: emptyState('ip') };
      const pauses = [...planChange(before, after, of)];
      assert.ok(pauses.length >= 19, `${pauses.length} pauses`);
      assert.ok(Math.max(...pauses) <= 1024);
    });
  }
});
