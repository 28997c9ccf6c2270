import type { EndpointList } from '../../../forwarding/model.ts';
import type { WireChange, WireListChange } from '../protocol.ts';
import { Affinity } from './affinity.ts';
import { chooseSlot } from './choice.ts';
import { frontendKey } from './frontend-index.ts';
import { Lookups, type LookupThread } from './lookups.ts';
import type { FromThread } from './messages.ts';
import { type Row, type RowListener, RowStore } from './row-store.ts';
import { ServedLists } from './served-lists.ts';
import type { SlotTable } from './slot-table.ts';

export interface DirectoryOptions {
  readonly slots: SlotTable;
  /** Of the shared clock. */
  readonly nowMs: () => number;
  readonly random?: () => number;
  readonly waitMs?: number;
  readonly listPartSize?: number;
}

type Stick = Extract<FromThread, { readonly tell: 'stick' }>;

/** All that the main thread knows: rows, lists with their slots, questions of threads, clients. */
export class Directory implements RowListener {
  readonly rows: RowStore;
  readonly lists: ServedLists;
  readonly affinity: Affinity;
  readonly slots: SlotTable;
  readonly #lookups: Lookups;
  readonly #nowMs: () => number;
  readonly #random: () => number;

  constructor({ slots, nowMs, random = Math.random, waitMs, listPartSize }: DirectoryOptions) {
    this.#nowMs = nowMs;
    this.#random = random;
    this.slots = slots;
    this.rows = new RowStore(this);
    this.lists = new ServedLists(slots);
    this.affinity = new Affinity({ nowMs });
    this.#lookups = new Lookups({ rows: this.rows, lists: this.lists, waitMs, listPartSize });
  }

  /** Threads learn of frontends by the next `flush`. */
  apply(change: WireChange): void {
    this.rows.apply(change);
  }

  flush(): void {
    this.#lookups.flush();
  }

  ask(thread: LookupThread, { frontend }: Extract<FromThread, { readonly tell: 'ask' }>): void {
    this.#lookups.ask(thread, frontend);
  }

  stick(thread: LookupThread, { connection, list: id, client, not }: Stick): void {
    thread.send({ tell: 'stick', connection, slot: this.#slotFor({ id, client, not }) ?? null });
  }

  /** Every second. */
  tick(): void {
    this.lists.tick();
    this.affinity.tick();
  }

  close(): void {
    this.#lookups.close();
  }

  frontendChanged(frontend: string): void {
    this.#lookups.frontendChanged(frontend);
  }

  endpointsChanged(row: Row, changes: Readonly<Record<EndpointList, WireListChange>>): void {
    for (const change of this.lists.endpointsChanged(row, changes)) {
      for (const slot of change.removed) this.affinity.forgetSlot(row, change.kind, slot);
      this.#lookups.listChanged(change);
    }
  }

  affinityChanged(row: Row): void {
    if (row.affinitySeconds === 0) this.affinity.forgetRow(row);
    for (const frontend of row.frontends) {
      this.#lookups.frontendChanged(frontendKey(row.family, frontend));
    }
  }

  rowDeleted(row: Row): void {
    this.affinity.forgetRow(row);
    this.lists.rowDeleted(row);
  }

  #slotFor({ id, client, not }: { id: number; client: string; not: readonly number[] }) {
    const list = this.lists.get(id);
    if (list === undefined) return undefined;
    const { row, kind } = list;
    const known = this.affinity.slotOf(row, kind, client);
    const isUsable = known !== undefined && list.has(known) && !not.includes(known);
    const options = { slots: this.slots, random: this.#random, nowMs: this.#nowMs };
    const slot = isUsable ? known : chooseSlot(list, not, options);
    if (slot !== undefined && row.affinitySeconds > 0) {
      this.affinity.remember(row, kind, { client, slot });
    }
    return slot;
  }
}
