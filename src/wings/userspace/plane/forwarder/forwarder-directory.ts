import type { EndpointList } from '../../../../forwarding/model.ts';
import { Affinity } from './affinity.ts';
import { choose } from './choose.ts';
import { RowReader } from './row-memory.ts';
import { type Row, RowStore, type RowStoreOptions } from './row-store.ts';
import type { RowWriter } from './row-writer.ts';
import type { SlotTable } from './slot-table.ts';
import type { FromThread } from './thread-messages.ts';

export interface DirectoryOptions {
  /** Frontends, rows and lists (row-memory.ts). */
  readonly memory: SharedArrayBuffer;
  readonly writer: RowWriter;
  readonly slots: SlotTable;
  /** Of the shared clock. */
  readonly nowMs: () => number;
  readonly onGone: RowStoreOptions['onGone'];
  readonly random?: () => number;
}

type Stick = Extract<FromThread, { readonly tell: 'stick' }>;

/** All that the main thread knows: rows, the slots of their endpoints, and clients. */
export class Directory {
  readonly rows: RowStore;
  readonly affinity: Affinity;
  readonly slots: SlotTable;
  readonly #reader: RowReader;
  readonly #nowMs: () => number;
  readonly #random: () => number;

  constructor({ memory, writer, slots, nowMs, onGone, random = Math.random }: DirectoryOptions) {
    this.#nowMs = nowMs;
    this.#random = random;
    this.slots = slots;
    this.affinity = new Affinity({ nowMs });
    this.rows = new RowStore({ writer, slots, affinity: this.affinity, onGone });
    this.#reader = new RowReader(memory);
  }

  /** The endpoint of a client, which is remembered and counts the connection; null: none is left. */
  stick({ row: number, list, client, not }: Omit<Stick, 'tell' | 'connection'>): number | null {
    const row = this.rows.withNumber(number);
    if (row === undefined) return null;
    const known = this.affinity.slotOf(row, list, client);
    const isUsable = known !== undefined && !not.includes(known);
    const slot = isUsable ? known : this.#choose(row, list, not);
    if (slot === undefined) return null;
    this.affinity.remember({ row, list, client, slot, renewedAtMs: this.#nowMs() });
    this.slots.addOpen(slot);
    return slot;
  }

  #choose(row: Row, list: EndpointList, tried: readonly number[]): number | undefined {
    this.#reader.open(row.number, list);
    const isAvoided = (slot: number, nowMs: number): boolean =>
      this.slots.avoidedUntilMs(slot) > nowMs;
    const by = { open: (slot: number) => this.slots.open(slot), isAvoided, random: this.#random };
    return choose(by, this.#reader, { tried, nowMs: this.#nowMs() });
  }
}
