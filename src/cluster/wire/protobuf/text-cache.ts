const PLACES = 4096;
const LONGEST = 48;

/**
 * Caches decoded strings by their bytes. Names of nodes, labels and protocols repeat, and comparing
 * with the cached string is cheaper than creating a new one.
 */
export class TextCache {
  readonly #texts: string[] = new Array(PLACES).fill('');

  read(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > LONGEST) return bytes.toString('utf8', start, end);
    const place = placeOf(bytes, start, end);
    const known = this.#texts[place] ?? '';
    if (known.length === length && isEqual(known, bytes, start)) return known;
    const text = bytes.toString('utf8', start, end);
    this.#texts[place] = text;
    return text;
  }
}

function placeOf(bytes: Buffer, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

/** Only an ASCII string has as many bytes as characters. */
function isEqual(text: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at++) {
    const byte = bytes[start + at] ?? 0;
    if (byte >= 0x80 || text.charCodeAt(at) !== byte) return false;
  }
  return true;
}
