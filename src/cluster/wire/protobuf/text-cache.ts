const PLACES = 4096;
const LONGEST = 48;

/**
 * Remembers texts by their bytes. Names of nodes, labels and protocols come again and again, and to
 * compare one with what was last found at its place is cheaper than to make it anew.
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

/** Only a text of ASCII has as many bytes as characters, each with its number. */
function isEqual(text: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at++) {
    const byte = bytes[start + at] ?? 0;
    if (byte >= 0x80 || text.charCodeAt(at) !== byte) return false;
  }
  return true;
}
