import type { BpfObject } from '../../../../linux/ebpf/bpf-object.ts';
import type { LoadedObject } from '../../../../linux/ebpf/load-object.ts';
import type { BpfMap, MapDefinition } from '../../../../linux/ebpf/map.ts';
import type { Pins } from '../pins.ts';
import { LAYOUT_VERSION, SETTINGS } from './layout.ts';

/** The only key of a map with one value. */
export const ONLY = Buffer.alloc(4);

/** Maps that are pinned and are what this program would make; those of another make are let go. */
export function adoptMaps(object: BpfObject, pins: Pins): Map<string, BpfMap> {
  const found = new Map<string, BpfMap>();
  for (const wanted of object.maps) {
    const map = pins.map(wanted.name);
    if (map === undefined) continue;
    if (isSameKind(map, wanted)) found.set(wanted.name, map);
    else map.close();
  }
  if (isThisLayout(found.get('settings'))) return found;
  for (const map of found.values()) map.close();
  return new Map();
}

/** Maps of any version and content: for commands that only read. */
export function openMaps(pins: Pins): Map<string, BpfMap> | undefined {
  const maps = MAP_NAMES.map((name) => [name, pins.map(name)] as const);
  const found = new Map(maps.flatMap(([name, map]) => (map ? [[name, map] as const] : [])));
  if (found.size === MAP_NAMES.length && isThisLayout(found.get('settings'))) return found;
  for (const map of found.values()) map.close();
  return undefined;
}

/** Those that were made just now; gives how many. */
export function pinNewMaps(
  object: BpfObject,
  loaded: LoadedObject,
  parts: { readonly pins: Pins; readonly adopted: ReadonlyMap<string, BpfMap> },
): number {
  let count = 0;
  for (const { name } of object.maps) {
    const map = loaded.maps.get(name);
    if (map === undefined || parts.adopted.has(name)) continue;
    parts.pins.pinMap(name, map);
    count += 1;
  }
  return count;
}

function isSameKind(map: BpfMap, wanted: MapDefinition): boolean {
  return (
    map.type === wanted.type &&
    map.keySize === wanted.keySize &&
    map.valueSize === wanted.valueSize &&
    map.flags === wanted.flags
  );
}

function isThisLayout(settings: BpfMap | undefined): boolean {
  return settings?.lookup(ONLY)?.readUInt32LE(SETTINGS.layoutVersion) === LAYOUT_VERSION;
}

/** Every map of bpf/, by name: each is pinned, and required for reading. */
export const MAP_NAMES: readonly string[] = [
  'frontends',
  'slots',
  'node_addresses',
  'interfaces',
  'affinities',
  'affinity_counts',
  'settings',
  'connected',
  'sent',
  'ended',
];
