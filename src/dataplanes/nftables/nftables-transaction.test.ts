import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Endpoint,
  type Forwarding,
  type Frontend,
  servicePortKey,
} from '../../forwarding/model.ts';
import type { RowChange } from '../contract.ts';
import { Knowledge } from './nftables-knowledge.ts';
import { partsOf, type RowParts } from './nftables-row.ts';
import { CLASS_SETS, SHARED_SETS } from './nftables-sets.ts';
import { Transaction } from './nftables-transaction.ts';
import { PlanProgress } from './plan-progress.ts';
import { planRow, settleRow } from './planned-row.ts';
import type { SharedElement } from './row-elements.ts';
import { allElements, perform } from './row-plan.ts';
import { rangeElements } from './source-ranges.ts';
import { count } from './state.ts';
import {
  FACTS,
  PLAIN_RECIPE,
  type RowRecipe,
  row,
  rowOf,
  SHAPES,
} from './testing/nftables-rows.ts';
import { placeText, SimulatedTable } from './testing/simulated-table.ts';

const RECIPE: fc.Arbitrary<RowRecipe> = fc
  .record({
    number: fc.nat(4),
    shape: fc.constantFrom(...SHAPES),
    endpointCount: fc.oneof(fc.nat(6), fc.integer({ min: 60, max: 90 })),
    localCount: fc.nat(3),
    affinitySeconds: fc.constantFrom(0, 60),
    ranges: fc.constantFrom(undefined, [], ['10.0.0.0/8'], ['10.0.0.0/8', '192.0.2.0/24']),
  })
  .map(({ ranges, ...recipe }) => ({
    ...PLAIN_RECIPE,
    ...recipe,
    ...(ranges === undefined ? {} : { allowedSources: ranges }),
  }));

/** The kernel elements of several rows, apart from classes. */
function wantedElements(rows: Iterable<Forwarding>, knowledge: Knowledge): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const each of rows) {
    const parts = partsOf(each, knowledge.numbers);
    for (const { set, key, value } of allElements(parts, knowledge.orders)) {
      wanted.set(placeText(set, key), value ?? '');
    }
    for (const { set, key } of sharedOf(parts)) wanted.set(placeText(set, key), '');
  }
  return wanted;
}

function sharedOf({ shared, sources }: RowParts): SharedElement[] {
  return [...shared, ...(sources ? rangeElements(sources) : [])];
}

const sorted = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
const isClass = (place: string) => CLASS_SETS.some((set) => place.startsWith(`${set} `));

/** Writes changes as the plane does, whole or in parts of a few elements. */
function write(
  table: SimulatedTable,
  written: { knowledge: Knowledge; changes: readonly RowChange[]; mostElements: number },
): number {
  const { knowledge, changes, mostElements } = written;
  const state = knowledge.state('ip');
  const writtenBefore = table.writtenCount;
  const commit = (transaction: Transaction) => {
    table.commit((batch) => transaction.write(batch, FACTS));
    transaction.settle();
  };
  const planned = changes.flatMap((change) => planRow(knowledge, change) ?? []);
  if (mostElements === Number.POSITIVE_INFINITY) {
    const transaction = new Transaction(state);
    for (const { key, plan } of planned) {
      for (const step of plan.steps) perform(step, key, transaction);
    }
    commit(transaction);
  }
  for (const row of planned) {
    const progress = new PlanProgress(row.key, row.plan);
    for (let isDone = mostElements === Number.POSITIVE_INFINITY; !isDone; ) {
      const transaction = new Transaction(state);
      const position = progress.next(transaction, mostElements);
      commit(transaction);
      isDone = progress.acknowledge(position);
    }
    settleRow(knowledge, row);
  }
  return table.writtenCount - writtenBefore;
}

const step = fc.record({ recipe: RECIPE, isRemoval: fc.boolean() });
const STEPS = fc.uniqueArray(step, {
  minLength: 1,
  maxLength: 4,
  selector: ({ recipe }) => recipe.number,
});

for (const mostElements of [Number.POSITIVE_INFINITY, 7]) {
  describe(`a change written ${mostElements === 7 ? 'in parts' : 'whole'}`, () => {
    it('leaves the elements of the rows and nothing else, from any state', () => {
      fc.assert(
        fc.property(fc.array(STEPS, { maxLength: 8 }), (transactions) => {
          const knowledge = new Knowledge();
          const table = new SimulatedTable();
          const rows = new Map<string, Forwarding>();
          for (const steps of transactions) {
            const changes = steps.map(({ recipe, isRemoval }) => {
              const row = rowOf(recipe);
              const key = servicePortKey(row.id);
              const before = rows.get(key) ?? ('absent' as const);
              return { key, id: row.id, before, after: isRemoval ? undefined : row };
            });
            write(table, { knowledge, changes, mostElements });
            for (const { key, after } of changes) {
              if (after) rows.set(key, after);
              else rows.delete(key);
            }
            const found = [...table.elements].filter(([place]) => !isClass(place));
            assert.deepEqual(
              sorted(new Map(found)),
              sorted(wantedElements(rows.values(), knowledge)),
            );
            assertCounted(knowledge, rows.values());
          }
        }),
        { numRuns: 300 },
      );
    });
  });
}

describe('a transaction', () => {
  const whole = { mostElements: Number.POSITIVE_INFINITY };
  const written = (knowledge: Knowledge, table: SimulatedTable) => {
    return (before: Forwarding | undefined, after: Forwarding) => {
      const { id } = after;
      const changes = [
        { key: servicePortKey(id), id, before: before ?? ('absent' as const), after },
      ];
      return write(table, { knowledge, changes, ...whole });
    };
  };

  it('has only what differs', () => {
    const put = written(new Knowledge(), new SimulatedTable());
    const [small, large] = [row({ endpointCount: 2 }), row({ endpointCount: 3 })];
    // Three frontends, two groups, two slots, the cluster IP, three classes.
    assert.equal(put(undefined, small), 3 + 2 + 2 + 1 + 3);
    assert.equal(put(small, small), 0);
    // Two groups, deleted and added, a slot more, three new classes.
    assert.equal(put(small, large), 2 * 2 + 1 + 3);
    // Back again the classes are there already.
    assert.equal(put(large, small), 2 * 2 + 1);
  });

  it('is as small for one endpoint of a thousand as for one of three, at 150 addresses too', () => {
    const put = written(new Knowledge(), new SimulatedTable());
    const many = withAddresses(row({ endpointCount: 1000 }), 150);
    assert.equal(put(undefined, many), 153 + 2 + 1000 + 1 + 3);
    const gone = { ...many, clusterEndpoints: many.clusterEndpoints.toSpliced(500, 1) };
    // The last one takes its slot: deleted and added there, deleted where it was.
    assert.equal(put(many, gone), 3);
    assert.equal(put(gone, many), 1);
    const other = { ...many, clusterEndpoints: many.clusterEndpoints.with(0, moved(many)) };
    assert.equal(put(many, other), 2);
  });

  it('has as many elements as addresses and endpoints, not their product', () => {
    for (const [addresses, endpoints] of [
      [10, 5000],
      [150, 1000],
    ] as const) {
      const put = written(new Knowledge(), new SimulatedTable());
      const many = withAddresses(row({ endpointCount: endpoints }), addresses);
      assert.ok(put(undefined, many) < addresses + endpoints + 20);
    }
  });
});

function moved({ clusterEndpoints: [first] }: Forwarding): Endpoint {
  assert.ok(first);
  return { ...first, port: first.port + 1 };
}

/** With this many more external addresses. */
function withAddresses(row: Forwarding, count: number): Forwarding {
  const [, balancer] = row.frontends;
  assert.ok(balancer);
  const more = Array.from({ length: count }, (_, index): Frontend => {
    const address = `198.18.${index >> 8}.${index & 255}`;
    return { ...balancer, kind: 'external-ip', address };
  });
  return { ...row, frontends: [...row.frontends, ...more] };
}

/** How many rows want a shared element is known exactly: one too few and it goes too early. */
function assertCounted(knowledge: Knowledge, rows: Iterable<Forwarding>): void {
  const wanted = new Map<string, number>();
  const lists = new Map<number, number>();
  for (const each of rows) {
    const parts = partsOf(each, knowledge.numbers);
    for (const element of sharedOf(parts)) {
      const place = placeText(element.set, element.key);
      const isRange = element.set === 'source-ranges';
      wanted.set(place, isRange ? 1 : (wanted.get(place) ?? 0) + 1);
    }
    if (parts.sources) count(lists, parts.sources.number, 1);
  }
  const state = knowledge.state('ip');
  const found = SHARED_SETS.flatMap((set) =>
    [...state.wanted[set]].map(([key, many]): [string, number] => [placeText(set, key), many]),
  );
  const byPlace = (a: [string, number], b: [string, number]) => (a[0] < b[0] ? -1 : 1);
  assert.deepEqual(found.sort(byPlace), [...wanted].sort(byPlace));
  assert.deepEqual(new Map(state.sourceLists), lists);
}
