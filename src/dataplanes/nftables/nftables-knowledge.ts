import type { ServicePortId, ServicePortKey } from '../../forwarding/model.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { SlotOrders } from './endpoint-list.ts';
import { TABLE_FAMILIES, TABLE_OF_FAMILY } from './nftables-chains.ts';
import type { ComparedRow } from './nftables-comparison.ts';
import type { SourceList } from './nftables-row.ts';
import type { SharedElement } from './row-elements.ts';
import { newRowNumbers } from './row-numbers.ts';
import type { Present } from './row-plan.ts';
import { rangeElements } from './source-ranges.ts';
import { byName, count, emptyState, type TableState } from './state.ts';
import type { TableFacts } from './table-facts.ts';

/**
 * The state of the kernel that the plane tracks without reading it. Not which rows are applied: the
 * agent names those with every change.
 */
export class Knowledge {
  /** The facts that the fixed parts were written for; undefined: there was no inspection yet. */
  facts: TableFacts | undefined;
  readonly numbers = newRowNumbers();
  /** Orders of long lists that are not sorted. */
  readonly orders: SlotOrders = new Map();
  /** What the kernel has of `unknown` rows. */
  readonly present = new Map<ServicePortKey, Present>();
  readonly takeover = new Takeover(() => performance.now());
  #states = newStates();

  state(family: TableFamily): TableState {
    return this.#states[family];
  }

  /** Numbers stay: they follow from names, and names mean the same afterwards. */
  forget(): void {
    this.facts = undefined;
    this.#states = newStates();
    this.present.clear();
    this.orders.clear();
  }

  /** The whole kernel was compared with these: nothing else has a number in it. */
  keepNumbers(names: { rows: ReadonlySet<string>; sources: ReadonlySet<string> }): void {
    this.numbers.rows.keepOnly(names.rows);
    this.numbers.sources.keepOnly(names.sources);
  }

  /** The row was absent before: all that the kernel has of it counts. */
  noteFirst(key: ServicePortKey, id: ServicePortId, row: ComparedRow): void {
    const family = TABLE_OF_FAMILY[id.family];
    const there = row.present ?? row.parts;
    this.#countShared(family, there.shared, 1);
    this.#noteRanges(family, row);
    if (there.sources) this.countSources(family, there.sources, 1);
    if (row.present) this.present.set(key, row.present);
  }

  /** The row was complete and is not now: its missing elements no longer count. */
  noteChanged(key: ServicePortKey, id: ServicePortId, row: ComparedRow): void {
    const { parts, present } = row;
    if (!present) return;
    const family = TABLE_OF_FAMILY[id.family];
    this.present.set(key, present);
    const left = new Set(present.shared);
    const missing = parts.shared.filter((element) => !left.has(element));
    this.#countShared(family, missing, -1);
    if (!parts.sources || present.sources) return;
    this.#noteRanges(family, row);
    this.countSources(family, parts.sources, -1);
  }

  /** One more row uses the list, or one fewer. */
  countSources(family: TableFamily, { number }: SourceList, by: 1 | -1): void {
    count(this.#states[family].sourceLists, number, by);
  }

  #noteRanges(family: TableFamily, { parts: { sources }, missingRanges }: ComparedRow): void {
    if (!sources || !missingRanges) return;
    const wanted = this.#states[family].wanted['source-ranges'];
    for (const element of rangeElements(sources)) {
      const id = element.key;
      if (missingRanges.has(id)) wanted.delete(id);
      else wanted.set(id, 1);
    }
  }

  #countShared(family: TableFamily, shared: readonly SharedElement[], by: number): void {
    const { wanted } = this.#states[family];
    for (const element of shared) count(wanted[element.set], element.key, by);
  }
}

function newStates(): Record<TableFamily, TableState> {
  return byName(TABLE_FAMILIES, emptyState);
}

/**
 * After this the rules of an earlier version are deleted in any case: a row may never be accepted.
 */
const LONGEST_MS = 60_000;

/** Rows that are still to be written before the rules of an earlier version can go. */
class Takeover {
  readonly #waiting = new Set<ServicePortKey>();
  readonly #families = new Set<TableFamily>();
  readonly #monotonicMs: () => number;
  #sinceMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether packets of the family still go the old way. */
  isUnderWay(family: TableFamily): boolean {
    if (this.#waiting.size === 0 || !this.#families.has(family)) return false;
    return this.#monotonicMs() - this.#sinceMs < LONGEST_MS;
  }

  wait(family: TableFamily, key: ServicePortKey): void {
    if (this.#waiting.size === 0) this.#sinceMs = this.#monotonicMs();
    this.#families.add(family);
    this.#waiting.add(key);
  }

  /** Gives whether that was the last. */
  written(key: ServicePortKey): boolean {
    return this.#waiting.delete(key) && this.#waiting.size === 0;
  }
}
