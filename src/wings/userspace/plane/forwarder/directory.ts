import type { EndpointList } from '../../../../forwarding/model.ts';
import { Affinity } from './affinity.ts';
import { choose } from './choose.ts';
import type { FromThread } from './messages.ts';
import { RowReader } from './row-reader.ts';
import { type Row, type RowListener, RowStore } from './row-store.ts';
import type { RowWriter } from './row-writer.ts';
import type { SlotTable } from './slot-table.ts';

const MS_PER_TENTH = 100;

export interface DirectoryOptions {
  /** Frontends, rows and lists (row-memory.ts). */
  readonly memory: SharedArrayBuffer;
  readonly writer: RowWriter;
  readonly slots: SlotTable;
  /** Of the shared clock. */
  readonly nowMs: () => number;
  /** Attempts to connect to endpoints that left their rows must go on to others. */
  readonly onGone: (slots: readonly number[]) => void;
  readonly random?: () => number;
}

type Stick = Extract<FromThread, { readonly tell: 'stick' }>;

/** All that the main thread knows: rows, the slots of their endpoints, and clients. */
export class Directory implements RowListener {
  readonly rows: RowStore;
  readonly affinity: Affinity;
  readonly slots: SlotTable;
  readonly #reader: RowReader;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  readonly #onGone: (slots: readonly number[]) => void;

  constructor({ memory, writer, slots, nowMs, onGone, random = Math.random }: DirectoryOptions) {
    this.#nowMs = nowMs;
    this.#random = random;
    this.#onGone = onGone;
    this.slots = slots;
    this.rows = new RowStore({ writer, slots, listener: this });
    this.affinity = new Affinity({ nowMs });
    this.#reader = new RowReader(memory);
  }

  /** The endpoint of a client, which is remembered; null: none is left. */
  stick({ row: number, list, client, not }: Omit<Stick, 'tell' | 'connection'>): number | null {
    const row = this.rows.withNumber(number);
    if (row === undefined) return null;
    const known = this.affinity.slotOf(row, list, client);
    const isUsable = known !== undefined && !not.includes(known);
    const slot = isUsable ? known : this.#choose(row, list, not);
    if (slot !== undefined) this.affinity.remember(row, list, { client, slot });
    return slot ?? null;
  }

  /** Every second. */
  tick(): void {
    this.affinity.tick();
  }

  slotsLeft(row: Row, left: Readonly<Record<EndpointList, number[]>>, gone: number[]): void {
    for (const list of ['cluster', 'local'] as const) {
      for (const slot of left[list]) this.affinity.forgetSlot(row, list, slot);
    }
    // A thread counts a connection before it looks whether its endpoint is still there.
    const inUse = gone.filter((slot) => this.slots.open(slot) > 0);
    if (inUse.length > 0) this.#onGone(inUse);
  }

  affinityEnded(row: Row): void {
    this.affinity.forgetRow(row);
  }

  #choose(row: Row, list: EndpointList, tried: readonly number[]): number | undefined {
    this.#reader.open(row.number, list);
    const isAvoided = (slot: number, nowMs: number): boolean =>
      this.slots.avoidedUntil(slot) * MS_PER_TENTH > nowMs;
    const by = { open: (slot: number) => this.slots.open(slot), isAvoided, random: this.#random };
    return choose(by, this.#reader, { tried, nowMs: this.#nowMs() });
  }
}
