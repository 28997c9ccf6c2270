/** Resident memory of a process, by what it was mapped for. */
export interface MemoryParts {
  /** Pages of files: the program and its libraries, which the kernel may drop at any time. */
  readonly fileBytes: number;
  /** The heap that malloc grows with brk. */
  readonly mallocBytes: number;
  /** All other anonymous pages: V8's heap and code, large allocations, arenas of threads. */
  readonly anonymousBytes: number;
  /** Of the JavaScript heap what V8 has claimed, used or not, resident or not. */
  readonly claimedHeapBytes: number;
  /** Of buffers outside of the JavaScript heap. */
  readonly bufferBytes: number;
}

export type MappedParts = Pick<MemoryParts, 'fileBytes' | 'mallocBytes' | 'anonymousBytes'>;

const KIB = 1024;
/** The line that begins a mapping: addresses, rights, offset, device, inode, name. */
const MAPPING = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+) *(.*)$/;
const RESIDENT = /^Rss:\s+(\d+) kB$/;

/** From the text of /proc/PID/smaps. */
export function mappedParts(smaps: string): MappedParts {
  const parts = { fileBytes: 0, mallocBytes: 0, anonymousBytes: 0 };
  let part: keyof MappedParts = 'anonymousBytes';
  for (const line of smaps.split('\n')) {
    const mapping = MAPPING.exec(line);
    if (mapping !== null) part = partOf({ inode: mapping[1], name: mapping[2] });
    else parts[part] += Number(RESIDENT.exec(line)?.[1] ?? 0) * KIB;
  }
  return parts;
}

function partOf(of: {
  readonly inode: string | undefined;
  readonly name: string | undefined;
}): keyof MappedParts {
  if (of.inode !== '0') return 'fileBytes';
  return of.name === '[heap]' ? 'mallocBytes' : 'anonymousBytes';
}
