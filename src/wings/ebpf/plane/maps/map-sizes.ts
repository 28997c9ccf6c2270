import type { MapDefinition } from '../../../../linux/ebpf/map.ts';
import { mapMemoryBytes } from '../../../../linux/ebpf/map-memory.ts';
import { doubled } from './growth.ts';
import { MOST_SLOTS } from './layout.ts';
import { standardLength } from './slot-space.ts';

/** A cluster, by the numbers that the size of the maps depends on. */
export interface ClusterSize {
  readonly servicePorts: number;
  readonly endpointsPerPort: number;
  /** Addresses with a port under which each service port is served. */
  readonly frontendsPerPort: number;
  readonly nodeAddresses: number;
  /** CPUs that may ever be in the machine. */
  readonly cpus: number;
}

export interface MapSize {
  readonly map: string;
  /** Number of entries. Unknown for caches and socket storage, whose entries come and go. */
  readonly entries: number | undefined;
  /** How many fit before it is replaced by a larger one. */
  readonly room: number;
  readonly bytes: number;
  /** Size of its replacement while it grows, when both exist; 0: it never grows. */
  readonly whileGrowingBytes: number;
}

/** The memory of an object's maps for a cluster of this size, by the rules by which they grow. */
export function mapSizes(maps: readonly MapDefinition[], cluster: ClusterSize): MapSize[] {
  return maps.map((map) => {
    const entries = entriesIn(map.name, cluster);
    const room = roomOf(map, slotsOrEntries(map.name, entries, cluster));
    const grown = { ...map, maxEntries: room };
    const counted = { entries: entries ?? 0, cpus: cluster.cpus };
    const bytes = mapMemoryBytes(grown, counted);
    const smaller = { ...map, maxEntries: room / 2 };
    const whileGrowingBytes = room > map.maxEntries ? bytes + mapMemoryBytes(smaller, counted) : 0;
    return { map: map.name, entries, room, bytes, whileGrowingBytes };
  });
}

function entriesIn(name: string, cluster: ClusterSize): number | undefined {
  switch (name) {
    case 'frontends':
      return cluster.servicePorts * cluster.frontendsPerPort;
    case 'slots':
      return cluster.servicePorts * cluster.endpointsPerPort;
    case 'node_addresses':
      return cluster.nodeAddresses;
    case 'settings':
      return 1;
    default:
      return undefined;
  }
}

/**
 * Lists of endpoints are allocated in ranges of standard lengths, which leaves some slots unused.
 */
function slotsOrEntries(name: string, entries: number | undefined, cluster: ClusterSize): number {
  if (name === 'slots') return cluster.servicePorts * standardLength(cluster.endpointsPerPort);
  return entries ?? 0;
}

function roomOf({ name, maxEntries }: MapDefinition, needed: number): number {
  if (name !== 'slots' && name !== 'frontends') return maxEntries;
  const room = doubled(maxEntries, Math.max(0, needed - maxEntries));
  return name === 'slots' ? Math.min(room, MOST_SLOTS) : room;
}
