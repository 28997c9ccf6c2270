import type { NftBatch } from '../../linux/nftables/batch.ts';
import type { SetElement } from '../../linux/nftables/objects.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { NodeFacts } from '../contract.ts';
import { classChains } from './chains.ts';
import { type Class, classChain, classId, classSetOf } from './classes.ts';
import type { Place, RowElement, SharedElement } from './elements.ts';
import { hostNumber } from './keys.ts';
import type { RowParts } from './row.ts';
import { ROW_SETS, type RowSet, SHARED_SETS, type SharedSet, TABLES } from './sets.ts';
import { addClass, count, hasClass, type TableState } from './state.ts';
import { writeChain, writeRules } from './structure.ts';

interface OwnedElement {
  readonly owner: string;
  readonly element: SetElement;
}

interface SharedChange {
  readonly owner: string;
  readonly element: SharedElement;
  by: number;
  isWritten: boolean;
}

/**
 * The changes of some rows in one table, gathered and then written set by set: deletions first,
 * because what is put in the place of something else has the same key.
 */
export class Transaction {
  readonly #state: TableState;
  // A change touches two or three of the sets: the others get no list.
  readonly #deleted = new Map<RowSet, OwnedElement[]>();
  readonly #added = new Map<RowSet, OwnedElement[]>();
  readonly #shared = new Map<SharedSet, Map<Binary, SharedChange>>();
  readonly #newClasses = new Map<string, { owner: string; class: Class }>();

  constructor(state: TableState) {
    this.#state = state;
  }

  replace(owner: string, parts: { readonly before: RowParts; readonly after: RowParts }): void {
    const { before, after } = parts;
    if (before.elements.length === 0) this.#add(owner, after.elements);
    else this.#replaceElements(owner, parts);
    for (const element of before.shared) this.#want(owner, element, -1);
    for (const element of after.shared) this.#want(owner, element, 1);
    for (const each of after.classes) this.#need(owner, each);
  }

  #add(owner: string, elements: readonly RowElement[]): void {
    for (const element of elements) listOf(this.#added, element.set).push({ owner, element });
  }

  #replaceElements(
    owner: string,
    { before, after }: { readonly before: RowParts; readonly after: RowParts },
  ): void {
    const old = new Map<string, RowElement>();
    for (const element of before.elements) old.set(element.set + element.key, element);
    for (const element of after.elements) {
      const id = element.set + element.key;
      const known = old.get(id);
      if (known && known.value === element.value) old.delete(id);
      else listOf(this.#added, element.set).push({ owner, element });
    }
    for (const element of old.values()) {
      listOf(this.#deleted, element.set).push({ owner, element });
    }
  }

  write(batch: NftBatch, facts: NodeFacts): void {
    this.#writeClasses(batch, facts);
    const table = TABLES[this.#state.family];
    for (const set of ROW_SETS) {
      for (const { owner, element } of this.#deleted.get(set) ?? []) {
        batch.own(owner);
        batch.deleteElement(table, set, element);
      }
    }
    for (const set of SHARED_SETS) this.#writeShared(batch, set);
    for (const set of ROW_SETS) {
      for (const { owner, element } of this.#added.get(set) ?? []) {
        batch.own(owner);
        batch.addElement(table, set, element);
      }
    }
  }

  /** The kernel has it: so does the state. */
  settle(): void {
    for (const { class: each } of this.#newClasses.values()) addClass(this.#state, each);
    for (const set of SHARED_SETS) {
      for (const [key, { by }] of this.#shared.get(set) ?? [])
        count(this.#state.wanted[set], key, by);
    }
  }

  /** Every element that was written or deleted; one that others want as well was neither. */
  *touched(): Generator<Place & { family: TableFamily; set: RowSet | SharedSet }> {
    const { family } = this.#state;
    for (const set of ROW_SETS) {
      for (const list of [this.#deleted.get(set) ?? [], this.#added.get(set) ?? []]) {
        for (const { element } of list) yield { family, ...element, set };
      }
    }
    for (const set of SHARED_SETS) {
      for (const { element, isWritten } of this.#shared.get(set)?.values() ?? []) {
        if (isWritten) yield { family, ...element };
      }
    }
  }

  #writeClasses(batch: NftBatch, facts: NodeFacts): void {
    const { family } = this.#state;
    if (this.#newClasses.size === 0) return;
    const present = new Set(this.#state.chains);
    for (const { owner, class: each } of this.#newClasses.values()) {
      batch.own(owner);
      writeClass(batch, { class: each, facts, family, present });
    }
  }

  #writeShared(batch: NftBatch, set: SharedSet): void {
    const table = TABLES[this.#state.family];
    for (const [key, change] of this.#shared.get(set) ?? []) {
      const { owner, element, by } = change;
      const before = this.#state.wanted[set].get(key) ?? 0;
      change.isWritten = before > 0 !== before + by > 0;
      if (!change.isWritten) continue;
      batch.own(owner);
      if (before > 0) batch.deleteElement(table, set, element);
      else batch.addElement(table, set, element);
    }
  }

  #want(owner: string, element: SharedElement, by: number): void {
    const changes = this.#shared.get(element.set) ?? new Map<Binary, SharedChange>();
    this.#shared.set(element.set, changes);
    const known = changes.get(element.key);
    if (known) known.by += by;
    else changes.set(element.key, { owner, element, by, isWritten: false });
  }

  #need(owner: string, each: Class): void {
    if (hasClass(this.#state, each)) return;
    const id = `${classSetOf(each)} ${classId(each)}`;
    if (!this.#newClasses.has(id)) this.#newClasses.set(id, { owner, class: each });
  }
}

function listOf<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const known = lists.get(key);
  if (known) return known;
  const list: T[] = [];
  lists.set(key, list);
  return list;
}

/** The chains of a class, as far as they are not there, and the element that leads to them. */
function writeClass(
  batch: NftBatch,
  of: { class: Class; facts: NodeFacts; family: TableFamily; present: Set<string> },
): void {
  for (const chain of classChains(of.class, of.facts, of.family)) {
    if (of.present.has(chain.name)) continue;
    of.present.add(chain.name);
    writeChain(batch, of.family, chain);
    writeRules(batch, of.family, chain);
  }
  batch.addElement(TABLES[of.family], classSetOf(of.class), classElement(of.class));
}

export function classElement(of: Class): SetElement {
  return {
    key: hostNumber(classId(of)),
    verdict: { code: 'goto', chain: classChain(of) },
  };
}
