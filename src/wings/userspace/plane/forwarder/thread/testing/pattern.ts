/** Bytes of a stream, by a seed, that can be checked at any offset. */
const PERIOD = 65_521;
const bytes = Buffer.alloc(2 * PERIOD + 512 * 1024);
for (let at = 0; at < bytes.length; at++) bytes[at] = ((at % PERIOD) * 2_654_435_761) >>> 24;

export function patternBytes(seed: number, from: number, length: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = from; at < from + length; ) {
    const size = Math.min(512 * 1024, from + length - at);
    const start = (seed + at) % PERIOD;
    parts.push(bytes.subarray(start, start + size));
    at += size;
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

export function isPattern(data: Buffer, seed: number, from: number): boolean {
  return data.equals(patternBytes(seed, from, data.length));
}
