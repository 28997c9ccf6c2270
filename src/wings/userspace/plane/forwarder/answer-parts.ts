import { setImmediate } from 'node:timers/promises';

/** Elements that are written as JSON in one event loop iteration. */
const PER_ITERATION = 2_000;

/** The JSON of an array in parts, so that a long one does not hold up the event loop. */
export async function jsonArray<T>(elements: Iterable<T>): Promise<string[]> {
  const parts: string[] = ['['];
  let group: string[] = [];
  for (const element of elements) {
    group.push(JSON.stringify(element));
    if (group.length < PER_ITERATION) continue;
    parts.push(parts.length > 1 ? `,${group.join(',')}` : group.join(','));
    group = [];
    await setImmediate();
  }
  if (group.length > 0) parts.push(parts.length > 1 ? `,${group.join(',')}` : group.join(','));
  parts.push(']');
  return parts;
}

const LENGTH_BYTES = 4;

/** One frame of JSON in parts: its length comes with the first one. */
export function frameOfParts(parts: readonly string[]): Buffer[] {
  const buffers = parts.map((part) => Buffer.from(part));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(buffers.reduce((sum, { byteLength }) => sum + byteLength, 0));
  return [length, ...buffers];
}
