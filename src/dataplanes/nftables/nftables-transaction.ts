import type { NftBatch } from '../../linux/nftables/batch.ts';
import type { SetElement } from '../../linux/nftables/nft-objects.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { hostNumber } from '../shared/nft/element-keys.ts';
import { writeRules } from '../shared/nft/structure.ts';
import { type Class, classChain, classId, classPlace, classSetOf } from './classes.ts';
import { classChains } from './nftables-chains.ts';
import { ROW_SETS, type RowSet, SHARED_SETS, type SharedSet, TABLES } from './nftables-sets.ts';
import type { Place, RowElement, SharedElement } from './row-elements.ts';
import { addClass, count, hasClass, type TableState, wantedAfter } from './state.ts';
import type { TableFacts } from './table-facts.ts';
import { SHAPES } from './table-shape.ts';

/** Elements of one set with their owners; in parallel arrays, because a start has very many. */
interface OwnedElements {
  readonly owners: string[];
  readonly elements: RowElement[];
}

interface SharedChange {
  readonly owner: string;
  readonly element: SharedElement;
  by: number;
  isWritten: boolean;
}

/**
 * Changes of one table, collected and then written set by set: deletions first, because a
 * replacement has the same key.
 */
export class Transaction {
  readonly #state: TableState;
  // A change affects two or three of the sets: the others get no list.
  readonly #deleted = new Map<RowSet, OwnedElements>();
  readonly #added = new Map<RowSet, OwnedElements>();
  readonly #shared = new Map<SharedSet, Map<Binary, SharedChange>>();
  readonly #newClasses = new Map<string, { owner: string; class: Class }>();

  constructor(state: TableState) {
    this.#state = state;
  }

  add(owner: string, elements: readonly RowElement[]): void {
    for (const element of elements) put(this.#added, owner, element);
  }

  delete(owner: string, elements: readonly RowElement[]): void {
    for (const element of elements) put(this.#deleted, owner, element);
  }

  /** Elements whose keys exist with other values. */
  replace(owner: string, elements: readonly RowElement[]): void {
    this.delete(owner, elements);
    this.add(owner, elements);
  }

  /** One more row wants them, or one fewer. */
  want(owner: string, elements: readonly SharedElement[], by: 1 | -1): void {
    for (const element of elements) {
      const changes = this.#shared.get(element.set) ?? new Map<Binary, SharedChange>();
      this.#shared.set(element.set, changes);
      const id = element.key;
      const known = changes.get(id);
      if (known) known.by += by;
      else changes.set(id, { owner, element, by, isWritten: false });
    }
  }

  need(owner: string, classes: readonly Class[]): void {
    for (const each of classes) {
      if (hasClass(this.#state, each)) continue;
      const id = classPlace(each);
      if (!this.#newClasses.has(id)) this.#newClasses.set(id, { owner, class: each });
    }
  }

  write(batch: NftBatch, facts: TableFacts): void {
    this.#writeClasses(batch, facts);
    const table = TABLES[this.#state.family];
    for (const set of ROW_SETS) {
      forEach(this.#deleted.get(set), (owner, element) => {
        batch.own(owner);
        batch.deleteElement(table, set, element);
      });
    }
    for (const set of SHARED_SETS) this.#writeShared(batch, set);
    for (const set of ROW_SETS) {
      forEach(this.#added.get(set), (owner, element) => {
        batch.own(owner);
        batch.addElement(table, set, element);
      });
    }
  }

  /** The kernel has it: so does the state. */
  settle(): void {
    for (const { class: each } of this.#newClasses.values()) addClass(this.#state, each);
    for (const set of SHARED_SETS) {
      const wanted = this.#state.wanted[set];
      for (const [id, { by }] of this.#shared.get(set) ?? []) {
        const before = wanted.get(id) ?? 0;
        count(wanted, id, wantedAfter(set, before, by) - before);
      }
    }
  }

  /** Every element that was written or deleted; one that others want as well was neither. */
  *touched(): Generator<Place & { family: TableFamily; set: RowSet | SharedSet }> {
    const { family } = this.#state;
    for (const set of ROW_SETS) {
      for (const list of [this.#deleted.get(set), this.#added.get(set)]) {
        for (const element of list?.elements ?? []) yield { family, ...element };
      }
    }
    for (const set of SHARED_SETS) {
      for (const { element, isWritten } of this.#shared.get(set)?.values() ?? []) {
        if (isWritten) yield { family, ...element };
      }
    }
  }

  #writeClasses(batch: NftBatch, facts: TableFacts): void {
    const { family, chains } = this.#state;
    if (this.#newClasses.size === 0) return;
    const written = new Set<string>();
    for (const { owner, class: each } of this.#newClasses.values()) {
      batch.own(owner);
      for (const chain of classChains(each, facts, family)) {
        if (chains.has(chain.name) || written.has(chain.name)) continue;
        written.add(chain.name);
        batch.addChain(TABLES[family], chain);
        writeRules(batch, SHAPES[family], chain);
      }
      batch.addElement(TABLES[family], classSetOf(each), classElement(each));
    }
  }

  #writeShared(batch: NftBatch, set: SharedSet): void {
    const table = TABLES[this.#state.family];
    for (const [key, change] of this.#shared.get(set) ?? []) {
      const { owner, element, by } = change;
      const before = this.#state.wanted[set].get(key) ?? 0;
      change.isWritten = before > 0 !== wantedAfter(set, before, by) > 0;
      if (!change.isWritten) continue;
      batch.own(owner);
      if (before > 0) batch.deleteElement(table, set, element);
      else batch.addElement(table, set, element);
    }
  }
}

function put(lists: Map<RowSet, OwnedElements>, owner: string, element: RowElement): void {
  let list = lists.get(element.set);
  if (list === undefined) {
    list = { owners: [], elements: [] };
    lists.set(element.set, list);
  }
  list.owners.push(owner);
  list.elements.push(element);
}

function forEach(
  list: OwnedElements | undefined,
  visit: (owner: string, element: RowElement) => void,
): void {
  if (list === undefined) return;
  for (let index = 0; index < list.elements.length; index++) {
    visit(list.owners[index] as string, list.elements[index] as RowElement);
  }
}

/** A chain that chooses returns: the next rule uses its choice. */
export function classElement(rowClass: Class): SetElement {
  const code = rowClass.treatment === 'choose' ? 'jump' : 'goto';
  return { key: hostNumber(classId(rowClass)), verdict: { code, chain: classChain(rowClass) } };
}
