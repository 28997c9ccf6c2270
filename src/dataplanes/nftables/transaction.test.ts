import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import { Numbers } from './numbers.ts';
import { partsOf } from './row.ts';
import { CLASS_SETS, SHARED_SETS } from './sets.ts';
import { emptyState } from './state.ts';
import { FACTS, PLAIN_RECIPE, type RowRecipe, row, rowOf, SHAPES } from './testing/rows.ts';
import { placeText, SimulatedTable } from './testing/simulated-table.ts';
import { Transaction } from './transaction.ts';

const RECIPE: fc.Arbitrary<RowRecipe> = fc
  .record({
    number: fc.nat(4),
    shape: fc.constantFrom(...SHAPES),
    endpointCount: fc.nat(6),
    localCount: fc.nat(3),
    affinitySeconds: fc.constantFrom(0, 60),
    ranges: fc.constantFrom(undefined, [], ['10.0.0.0/8'], ['10.0.0.0/8', '192.0.2.0/24']),
  })
  .map(({ ranges, ...recipe }) => ({
    ...PLAIN_RECIPE,
    ...recipe,
    ...(ranges === undefined ? {} : { allowedSources: ranges }),
  }));

/** What several rows want in the kernel, apart from classes. */
function wantedElements(rows: Iterable<Forwarding>, numbers: Numbers): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const each of rows) {
    const { elements, shared } = partsOf(each, numbers);
    for (const { set, key, value } of elements) wanted.set(placeText(set, key), value ?? '');
    for (const { set, key } of shared) wanted.set(placeText(set, key), '');
  }
  return wanted;
}

const sorted = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
const isClass = (place: string) => CLASS_SETS.some((set) => place.startsWith(`${set} `));

describe('a transaction', () => {
  it('leaves what the rows want and nothing else, whatever was there before', () => {
    const step = fc.record({ recipe: RECIPE, isRemoval: fc.boolean() });
    const steps = fc.uniqueArray(step, {
      minLength: 1,
      maxLength: 4,
      selector: ({ recipe }) => recipe.number,
    });
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 8 }), (transactions) => {
        const state = emptyState('ip');
        const table = new SimulatedTable();
        const numbers = new Numbers();
        const rows = new Map<string, Forwarding>();
        for (const changes of transactions) {
          const transaction = new Transaction(state);
          for (const { recipe, isRemoval } of changes) {
            const key = servicePortKey(rowOf(recipe).id);
            const before = rows.get(key);
            const after = isRemoval ? undefined : rowOf(recipe);
            const parts = { before: partsOf(before, numbers), after: partsOf(after, numbers) };
            transaction.replace(key, parts);
            if (after) rows.set(key, after);
            else rows.delete(key);
          }
          table.commit((batch) => transaction.write(batch, FACTS));
          transaction.settle();
          const found = [...table.elements].filter(([place]) => !isClass(place));
          const wanted = wantedElements(rows.values(), numbers);
          assert.deepEqual(sorted(new Map(found)), sorted(wanted));
          assertCounted(state.wanted, rows.values(), numbers);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('writes only what differs', () => {
    const state = emptyState('ip');
    const table = new SimulatedTable();
    const numbers = new Numbers();
    const write = (before: Forwarding | undefined, after: Forwarding) => {
      const transaction = new Transaction(state);
      const parts = { before: partsOf(before, numbers), after: partsOf(after, numbers) };
      transaction.replace('row', parts);
      const writtenBefore = table.writtenCount;
      table.commit((batch) => transaction.write(batch, FACTS));
      transaction.settle();
      return table.writtenCount - writtenBefore;
    };
    const [small, large] = [row({ endpointCount: 2 }), row({ endpointCount: 3 })];
    write(undefined, small);
    assert.equal(write(small, small), 0);
    // The class of three frontends, deleted and added, three slots more, three new classes.
    assert.equal(write(small, large), 3 * 2 + 3 + 3);
    // Back again the classes are there already.
    assert.equal(write(large, small), 3 * 2 + 3);
  });
});

/** How many rows want a shared element is known exactly: one too few and it goes too early. */
function assertCounted(
  counted: ReturnType<typeof emptyState>['wanted'],
  rows: Iterable<Forwarding>,
  numbers: Numbers,
): void {
  const wanted = new Map<string, number>();
  for (const each of rows) {
    for (const { set, key } of partsOf(each, numbers).shared) {
      wanted.set(placeText(set, key), (wanted.get(placeText(set, key)) ?? 0) + 1);
    }
  }
  const found = SHARED_SETS.flatMap((set) =>
    [...counted[set]].map(([key, count]): [string, number] => [placeText(set, key), count]),
  );
  const byPlace = (a: [string, number], b: [string, number]) => (a[0] < b[0] ? -1 : 1);
  assert.deepEqual(found.sort(byPlace), [...wanted].sort(byPlace));
}
