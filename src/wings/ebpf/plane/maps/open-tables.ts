import type { BpfMap } from '../../../../linux/ebpf/map.ts';
import { readRange } from '../../../../linux/ebpf/map-range.ts';
import type { FrontendBatch } from './frontend-batch.ts';
import { bytesOf, FRONTEND, FRONTEND_KEY, SLOT, type Words, wordsIn } from './layout.ts';
import type { SlotRange } from './slot-space.ts';

/** Below this a call for each costs no more than one for all. */
const FEW = 4;

/** The maps of both modes, by the names that they have in bpf/. */
export class Tables {
  readonly frontends: BpfMap;
  readonly slots: BpfMap;
  readonly nodeAddresses: BpfMap;
  readonly settings: BpfMap;
  readonly interfaces: BpfMap;
  readonly affinities: BpfMap;
  readonly affinityCounts: BpfMap;
  #draft: SlotDraft = { keys: new Int32Array(0), values: new Int32Array(0) };

  constructor(maps: ReadonlyMap<string, BpfMap>) {
    this.frontends = mapNamed(maps, 'frontends');
    this.slots = mapNamed(maps, 'slots');
    this.nodeAddresses = mapNamed(maps, 'node_addresses');
    this.settings = mapNamed(maps, 'settings');
    this.interfaces = mapNamed(maps, 'interfaces');
    this.affinities = mapNamed(maps, 'affinities');
    this.affinityCounts = mapNamed(maps, 'affinity_counts');
  }

  async writeFrontends(batch: FrontendBatch): Promise<void> {
    const { count } = batch;
    if (count > FEW) {
      const values = bytesOf(batch.values).subarray(0, count * FRONTEND.bytes);
      const keys = bytesOf(batch.keys).subarray(0, count * FRONTEND_KEY.bytes);
      await this.frontends.updateBatch(keys, values, count);
      return;
    }
    for (let index = 0; index < count; index++) {
      this.frontends.update(batch.key(index), batch.value(index));
    }
  }

  /**
   * A buffer for this many slots, to be filled and written before the next call. It is reused: new
   * allocations would make the garbage collector scan every row.
   */
  slotDraft(count: number): SlotDraft {
    if (this.#draft.keys.length < count) {
      const values = new Int32Array(count * wordsIn(SLOT));
      this.#draft = { keys: new Int32Array(count), values };
    }
    return this.#draft;
  }

  async writeSlots(draft: SlotDraft, count: number): Promise<void> {
    const keys = bytesOf(draft.keys).subarray(0, count * 4);
    const values = bytesOf(draft.values).subarray(0, count * SLOT.bytes);
    if (count > FEW) {
      await this.slots.updateBatch(keys, values, count);
      return;
    }
    for (let index = 0; index < count; index++) {
      const key = keys.subarray(index * 4, index * 4 + 4);
      this.slots.update(key, values.subarray(index * SLOT.bytes, (index + 1) * SLOT.bytes));
    }
  }

  readSlots({ first, length }: SlotRange): Buffer {
    return readRange(this.slots, { first, count: length });
  }

  get allSlots(): SlotRange {
    return { first: 0, length: this.slots.maxEntries };
  }
}

/** Slots to be written to the kernel: their numbers and contents. */
interface SlotDraft {
  readonly keys: Words;
  readonly values: Words;
}

/** The slots that were read are in a separate buffer, so its words are aligned with it. */
export function wordsOfSlots(slots: Buffer): Int32Array {
  return new Int32Array(slots.buffer, slots.byteOffset, slots.length / 4);
}

function mapNamed(maps: ReadonlyMap<string, BpfMap>, name: string): BpfMap {
  const map = maps.get(name);
  if (map === undefined) throw new TypeError(`the object has no map ${name}`);
  return map;
}
