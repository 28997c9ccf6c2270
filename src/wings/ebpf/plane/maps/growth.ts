import { BpfError } from '../../../../linux/ebpf/bpf-error.ts';
import type { BpfMap } from '../../../../linux/ebpf/map.ts';
import { createMap } from '../../../../linux/ebpf/map-create.ts';
import { readFrontends } from '../inspect-maps.ts';
import { FRONTEND, FRONTEND_KEY, MOST_SLOTS, SLOT } from './layout.ts';
import type { Shortage } from './map-transaction.ts';
import type { Tables } from './open-tables.ts';

const SLOTS_AT_ONCE = 65_536;

/** The maps that grow. */
export interface Capacities {
  readonly slots: { readonly maxEntries: number };
  readonly frontends: { readonly maxEntries: number };
}

/** The next powers of two that have room. Throws when slots can no longer be numbered. */
export function grownSizes(
  tables: Capacities,
  { slots, frontends }: Shortage,
): Map<string, number> {
  const sizes = new Map<string, number>();
  if (slots > 0 && tables.slots.maxEntries >= MOST_SLOTS) {
    throw new BpfError(
      'BPF_FULL',
      `the ebpf map slots is full: ${slots} more endpoints do not fit into ${MOST_SLOTS} slots`,
      {
        next: 'use mode nftables, which has no such limit',
      },
    );
  }
  if (slots > 0) sizes.set('slots', Math.min(doubled(tables.slots.maxEntries, slots), MOST_SLOTS));
  if (frontends > 0) sizes.set('frontends', doubled(tables.frontends.maxEntries, frontends));
  return sizes;
}

/** The size that a map of this size grows to when this many more must fit. */
export function doubled(size: number, missing: number): number {
  let grown = size;
  while (grown < size + missing) grown *= 2;
  return grown;
}

/**
 * Larger maps with the same content. No write may run meanwhile; counts made meanwhile are lost.
 */
export async function grownMaps(
  tables: Tables,
  sizes: ReadonlyMap<string, number>,
): Promise<Map<string, BpfMap>> {
  const grown = new Map<string, BpfMap>();
  try {
    for (const [name, maxEntries] of sizes) {
      const old = name === 'slots' ? tables.slots : tables.frontends;
      grown.set(name, createMap({ ...definitionOf(old), maxEntries }));
    }
    const slots = grown.get('slots');
    const frontends = grown.get('frontends');
    if (slots) await copySlots(tables, slots);
    if (frontends) await copyFrontends(tables, frontends);
    return grown;
  } catch (error) {
    for (const map of grown.values()) map.close();
    throw error;
  }
}

function definitionOf({ name, type, keySize, valueSize, maxEntries, flags }: BpfMap) {
  return { name, type, keySize, valueSize, maxEntries, flags };
}

async function copySlots(tables: Tables, into: BpfMap): Promise<void> {
  const { maxEntries } = tables.slots;
  for (let first = 0; first < maxEntries; first += SLOTS_AT_ONCE) {
    const length = Math.min(SLOTS_AT_ONCE, maxEntries - first);
    const values = tables.readSlots({ first, length });
    const keys = Buffer.alloc(length * 4);
    for (let at = 0; at < length; at++) keys.writeUInt32LE(first + at, at * 4);
    await into.updateBatch(keys, values.subarray(0, length * SLOT.bytes), length);
  }
}

async function copyFrontends(tables: Tables, into: BpfMap): Promise<void> {
  const entries = await readFrontends(tables);
  const keys = Buffer.alloc(entries.size * FRONTEND_KEY.bytes);
  const values = Buffer.alloc(entries.size * FRONTEND.bytes);
  let at = 0;
  for (const [key, value] of entries) {
    keys.write(key, at * FRONTEND_KEY.bytes, 'latin1');
    values.set(value, at * FRONTEND.bytes);
    at += 1;
  }
  await into.updateBatch(keys, values, entries.size);
}
