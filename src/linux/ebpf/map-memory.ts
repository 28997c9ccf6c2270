import { MapFlag, MapType } from './bpf-constants.ts';
import type { MapDefinition } from './map.ts';

/** Sizes of structures of the kernel, Linux 6.18 on 64 bits. Others differ by some bytes. */
const HASH_TABLE_BYTES = 896;
const ARRAY_BYTES = 312;
const STORAGE_BYTES = 448;
const BUCKET_BYTES = 16;
/** Bytes before the key in an element of a hash map. */
const ELEMENT_HEAD_BYTES = 48;
/** An element that is made when it is needed waits in lists of the allocator. */
const LIST_NODE_BYTES = 8;

/**
 * Memory of a map with this many entries, as the kernel counts it (`map_mem_usage` of each type;
 * `memlock` in fdinfo). Arrays and LRU maps are allocated from the start; hash maps without
 * preallocation have a table of buckets, and memory for each entry in use.
 */
export function mapMemoryBytes(
  map: MapDefinition,
  { entries, cpus }: { readonly entries: number; readonly cpus: number },
): number {
  const { keySize, valueSize, maxEntries } = map;
  switch (map.type) {
    case MapType.array:
      return ARRAY_BYTES + maxEntries * inWords(valueSize);
    case MapType.hash:
    case MapType.lruHash: {
      const element = ELEMENT_HEAD_BYTES + inWords(keySize) + inWords(valueSize);
      const buckets = BUCKET_BYTES * nextPowerOfTwo(maxEntries);
      const elements =
        (map.flags & MapFlag.noPrealloc) === 0
          ? element * maxEntries
          : (element + LIST_NODE_BYTES) * entries;
      return HASH_TABLE_BYTES + buckets + elements;
    }
    case MapType.socketStorage:
      return STORAGE_BYTES + BUCKET_BYTES * nextPowerOfTwo(cpus);
    default:
      throw new TypeError(`the memory of a map of type ${map.type} is not known`);
  }
}

function inWords(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

function nextPowerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(count, 1)));
}
