import type { EndpointList } from '../../../forwarding/model.ts';
import type { WireEndpoint, WireListChange } from '../protocol.ts';
import type { ListId, ThreadEndpoint } from './messages.ts';
import { LISTS, type Row } from './row-store.ts';
import { ServedList, threadEndpoint } from './served-list.ts';
import type { SlotTable } from './slot-table.ts';

/** What changed in a list, by slots. */
export interface ServedChange {
  readonly kind: EndpointList;
  /** Undefined: no thread has it. */
  readonly list: ServedList | undefined;
  readonly added: readonly ThreadEndpoint[];
  readonly removed: readonly number[];
}

type RowLists = Partial<Record<EndpointList, ServedList>>;

/**
 * Slots of endpoints, given out for lists that some thread asked for. Both lists of a row have the same
 * slot for the same endpoint, and it stays with the endpoint until it has left both.
 */
export class ServedLists {
  readonly #slots: SlotTable;
  readonly #lists = new Map<Row, RowLists>();
  readonly #byId = new Map<ListId, ServedList>();
  readonly #slotsOfRow = new Map<Row, Map<WireEndpoint, number>>();
  /** Lists that no thread has, of this tick and of the one before. */
  #retired = new Set<ServedList>();
  #dropped = new Set<ServedList>();
  #lastId = 0;

  constructor(slots: SlotTable) {
    this.#slots = slots;
  }

  get(id: ListId): ServedList | undefined {
    return this.#byId.get(id);
  }

  /** The list, from now on kept up to date. */
  serve(row: Row, kind: EndpointList): ServedList {
    const lists = this.#lists.get(row) ?? {};
    const known = lists[kind];
    if (known !== undefined) {
      this.#retired.delete(known);
      this.#dropped.delete(known);
      return known;
    }
    this.#slotsOf(row);
    const list = new ServedList(++this.#lastId, row, kind);
    for (const endpoint of row.endpoints[kind]) {
      const slot = this.slotOf(row, endpoint);
      if (slot !== undefined) list.add(slot);
    }
    this.#lists.set(row, { ...lists, [kind]: list });
    this.#byId.set(list.id, list);
    return list;
  }

  /**
   * No thread has it any more, but a question for it may be under way: it is dropped by the second
   * tick. Endpoints keep their slots, and so their counts.
   */
  retire(list: ServedList): void {
    if (this.#byId.has(list.id)) this.#retired.add(list);
  }

  tick(): void {
    for (const { id, row, kind } of this.#dropped) {
      this.#byId.delete(id);
      delete this.#lists.get(row)?.[kind];
    }
    this.#dropped = this.#retired;
    this.#retired = new Set();
  }

  /** All endpoints of a list, as a thread needs them the first time. */
  endpoints({ row, kind }: ServedList): ThreadEndpoint[] {
    const slots = this.#slotsOfRow.get(row);
    const endpoints: ThreadEndpoint[] = [];
    for (const endpoint of row.endpoints[kind]) {
      const slot = slots?.get(endpoint);
      if (slot !== undefined) endpoints.push(threadEndpoint(slot, endpoint));
    }
    return endpoints;
  }

  /** Gives one to an endpoint that has none. Undefined: there is none left. */
  slotOf(row: Row, endpoint: WireEndpoint): number | undefined {
    const slots = this.#slotsOf(row);
    const known = slots.get(endpoint);
    if (known !== undefined) return known;
    const slot = this.#slots.take({ row: row.key, endpoint });
    if (slot !== undefined) slots.set(endpoint, slot);
    return slot;
  }

  /** Follows a change of a row's endpoints. */
  endpointsChanged(
    row: Row,
    changes: Readonly<Record<EndpointList, WireListChange>>,
  ): ServedChange[] {
    const slots = this.#slotsOfRow.get(row);
    // No thread has ever asked for it.
    if (slots === undefined) return [];
    const served = LISTS.map((kind) => this.#changed(row, kind, changes[kind]));
    for (const kind of LISTS) {
      for (const endpoint of changes[kind].removed) this.#leave(row, endpoint, slots);
    }
    return served.filter(({ added, removed }) => added.length + removed.length > 0);
  }

  rowDeleted(row: Row): void {
    for (const slot of this.#slotsOfRow.get(row)?.values() ?? []) this.#slots.leave(slot);
    this.#slotsOfRow.delete(row);
    for (const list of Object.values(this.#lists.get(row) ?? {})) {
      this.#byId.delete(list.id);
      this.#retired.delete(list);
      this.#dropped.delete(list);
    }
    this.#lists.delete(row);
  }

  #changed(row: Row, kind: EndpointList, change: WireListChange): ServedChange {
    const list = this.#lists.get(row)?.[kind];
    const slots = this.#slotsOfRow.get(row);
    const removed: number[] = [];
    for (const endpoint of change.removed) {
      const slot = slots?.get(endpoint);
      if (slot === undefined) continue;
      list?.remove(slot);
      removed.push(slot);
    }
    const added: ThreadEndpoint[] = [];
    for (const endpoint of list === undefined ? [] : change.added) {
      const slot = this.slotOf(row, endpoint);
      if (slot === undefined) continue;
      list?.add(slot);
      added.push(threadEndpoint(slot, endpoint));
    }
    return { kind, list, added, removed };
  }

  /** From the first question for the row on. */
  #slotsOf(row: Row): Map<WireEndpoint, number> {
    const known = this.#slotsOfRow.get(row);
    if (known !== undefined) return known;
    const slots = new Map<WireEndpoint, number>();
    this.#slotsOfRow.set(row, slots);
    return slots;
  }

  #leave(row: Row, endpoint: WireEndpoint, slots: Map<WireEndpoint, number>): void {
    if (LISTS.some((kind) => row.endpoints[kind].has(endpoint))) return;
    const slot = slots.get(endpoint);
    if (slot === undefined) return;
    slots.delete(endpoint);
    this.#slots.leave(slot);
  }
}
