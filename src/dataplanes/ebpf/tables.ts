import type { BpfMap } from '../../linux/bpf/map.ts';
import { readRange } from '../../linux/bpf/map-range.ts';
import type { Binary } from './knowledge.ts';
import { FRONTEND, FRONTEND_KEY, SLOT } from './layout.ts';
import type { SlotRange } from './slot-space.ts';

/** Below this a call for each costs no more than one for all. */
const FEW = 4;

/** The maps of both modes, by the names that they have in bpf/. */
export class Tables {
  readonly frontends: BpfMap;
  readonly slots: BpfMap;
  readonly nodeAddresses: BpfMap;
  readonly settings: BpfMap;

  constructor(maps: ReadonlyMap<string, BpfMap>) {
    this.frontends = mapNamed(maps, 'frontends');
    this.slots = mapNamed(maps, 'slots');
    this.nodeAddresses = mapNamed(maps, 'node_addresses');
    this.settings = mapNamed(maps, 'settings');
  }

  async writeFrontends(
    entries: readonly { readonly key: Buffer; readonly value: Buffer }[],
  ): Promise<void> {
    if (entries.length <= FEW) {
      for (const { key, value } of entries) this.frontends.update(key, value);
      return;
    }
    const keys = Buffer.allocUnsafe(entries.length * FRONTEND_KEY.bytes);
    const values = Buffer.allocUnsafe(entries.length * FRONTEND.bytes);
    entries.forEach(({ key, value }, index) => {
      keys.set(key, index * FRONTEND_KEY.bytes);
      values.set(value, index * FRONTEND.bytes);
    });
    await this.frontends.updateBatch(keys, values, entries.length);
  }

  async writeSlots(keys: Buffer, values: Buffer, count: number): Promise<void> {
    if (count > FEW) {
      await this.slots.updateBatch(keys, values, count);
      return;
    }
    for (let index = 0; index < count; index++) {
      const key = keys.subarray(index * 4, index * 4 + 4);
      this.slots.update(key, values.subarray(index * SLOT.bytes, (index + 1) * SLOT.bytes));
    }
  }

  /** What was counted for each endpoint of a list, by its bytes. */
  connectionsIn(range: SlotRange): ReadonlyMap<Binary, bigint> {
    const slots = this.readSlots(range);
    const counted = new Map<Binary, bigint>();
    for (let at = 0; at < slots.length; at += SLOT.bytes) {
      counted.set(endpointBytes(slots, at), slots.readBigUInt64LE(at + SLOT.connections));
    }
    return counted;
  }

  readSlots({ first, length }: SlotRange): Buffer {
    return readRange(this.slots, { first, count: length });
  }

  get allSlots(): SlotRange {
    return { first: 0, length: this.slots.maxEntries };
  }
}

/** Address and port of a slot: a name for the endpoint that needs no text. */
export function endpointBytes(slots: Buffer, at: number): Binary {
  return slots.toString('latin1', at + SLOT.address, at + SLOT.port + 2);
}

function mapNamed(maps: ReadonlyMap<string, BpfMap>, name: string): BpfMap {
  const map = maps.get(name);
  if (map === undefined) throw new TypeError(`the object has no map ${name}`);
  return map;
}
