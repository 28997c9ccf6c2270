/**
 * An endpoint of a row has a slot in memory that all threads share, from the first question for its
 * row on. Pages of slots that are not used cost nothing.
 *
 *   open      Int32, shared: open connections, the measure of choice
 *   avoided   Int32, shared: until when it gets none, in tenths of a second of shared-clock.ts; 0: not avoided
 *   counts    Float64, one array for each thread, so that adding needs no lock; a reader sums them up
 */
export const MOST_SLOTS = 1_048_576;

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

export function openSlots(): SharedArrayBuffer {
  return new SharedArrayBuffer(MOST_SLOTS * Int32Array.BYTES_PER_ELEMENT);
}

export function countSlots(): SharedArrayBuffer {
  return new SharedArrayBuffer((MOST_SLOTS + 1) * COUNT_FIELDS * Float64Array.BYTES_PER_ELEMENT);
}
