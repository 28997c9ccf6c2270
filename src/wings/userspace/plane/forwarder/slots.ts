/**
 * An endpoint of a row has a slot in memory that all threads share. Pages of slots that are not used
 * cost nothing.
 *
 *   open        Int32: open connections, the measure of choice
 *   avoided     Int32: until when it gets none, in tenths of a second of shared-clock.ts; 0: not avoided
 *   addresses   32 bytes: its socket address
 *   counts      Float64, one array for each thread, so that adding needs no lock; a reader sums them up
 *
 * Slot 0 is nobody's: connections are counted there whose endpoint has no slot.
 */
export const MOST_SLOTS = 1_048_576;

/** A slot of `addresses`: struct sockaddr_in6, rounded up. */
export const ADDRESS_BYTES = 32;

/** Fields of a slot in `counts`. */
export const COUNT = {
  connections: 0,
  bytesToEndpoint: 1,
  bytesToClient: 2,
  connectMicroseconds: 3,
  refused: 4,
  timedOut: 5,
} as const;

export const COUNT_FIELDS = Object.keys(COUNT).length;

/** Counts of the thread as a whole, in the slot after the last one. */
export const THREAD_COUNT = { accepted: 0, failed: 1, unknownFrontend: 2 } as const;

/** What all threads share. */
export interface SharedMemory {
  readonly open: SharedArrayBuffer;
  readonly avoided: SharedArrayBuffer;
  readonly addresses: SharedArrayBuffer;
  /** Frontends, rows and lists (row-memory.ts). */
  readonly rows: SharedArrayBuffer;
  /** One Int32: connections of all threads. */
  readonly connections: SharedArrayBuffer;
}

export function openSharedMemory(rowsBytes: number): SharedMemory {
  const ofSlots = (bytes: number) => new SharedArrayBuffer(MOST_SLOTS * bytes);
  return {
    open: ofSlots(Int32Array.BYTES_PER_ELEMENT),
    avoided: ofSlots(Int32Array.BYTES_PER_ELEMENT),
    addresses: ofSlots(ADDRESS_BYTES),
    rows: new SharedArrayBuffer(rowsBytes),
    connections: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  };
}

export function countSlots(): SharedArrayBuffer {
  return new SharedArrayBuffer((MOST_SLOTS + 1) * COUNT_FIELDS * Float64Array.BYTES_PER_ELEMENT);
}
