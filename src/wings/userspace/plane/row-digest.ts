import { SOURCE_CLASSES } from '../../../forwarding/model.ts';
import type { WireFrontend, WireRow } from './forwarder-protocol.ts';

/**
 * A digest of a row that does not depend on the order of its parts: a sum of the hashes of its parts,
 * modulo 2^64, kept as two halves of 32 bits. A part is added or subtracted without the others, so
 * keeping it up to date costs what changed. It finds accidental differences, not forged ones.
 */
export class RowDigest {
  #high = 0;
  #low = 0;

  add(kind: keyof typeof KIND, text: string): void {
    this.#change(KIND[kind], text, 1);
  }

  remove(kind: keyof typeof KIND, text: string): void {
    this.#change(KIND[kind], text, -1);
  }

  /** 16 hexadecimal digits. */
  text(): string {
    return hex(this.#high) + hex(this.#low);
  }

  #change(kind: number, text: string, sign: 1 | -1): void {
    this.#high = (this.#high + sign * hash(kind, text)) >>> 0;
    this.#low = (this.#low + sign * hash(kind + LOW_HALF, text)) >>> 0;
  }
}

/** In place of the digest of a row for which the forwarder has no room. */
export const DECLINED = 'declined';

/** The digest that the forwarder has of a row once it has taken it. */
export function rowDigest(row: WireRow): string {
  const digest = new RowDigest();
  digest.add('affinity', String(row.affinitySeconds));
  for (const frontend of row.frontends) digest.add('frontend', frontendText(frontend));
  for (const endpoint of new Set(row.cluster)) digest.add('cluster', endpoint);
  for (const endpoint of new Set(row.local)) digest.add('local', endpoint);
  return digest.text();
}

/** So that the same text counts differently as another part of the row. */
const KIND = { affinity: 1, frontend: 2, cluster: 3, local: 4 } as const;
const LOW_HALF = 0x5bd1e995;

export function frontendText({ address, port, treatments }: WireFrontend): string {
  const outcomes = SOURCE_CLASSES.map((source) => {
    const treatment = treatments[source];
    return treatment === null ? '-' : `${treatment.list}${treatment.masquerade ? '+' : ''}`;
  });
  return `${address} ${port} ${outcomes.join(' ')}`;
}

/** MurmurHash3 over UTF-16 code units, 32 bits. */
function hash(seed: number, text: string): number {
  let sum = seed | 0;
  for (let at = 0; at < text.length; at++) {
    let unit = Math.imul(text.charCodeAt(at), 0xcc9e2d51);
    unit = Math.imul((unit << 15) | (unit >>> 17), 0x1b873593);
    sum ^= unit;
    sum = (Math.imul((sum << 13) | (sum >>> 19), 5) + 0xe6546b64) | 0;
  }
  sum ^= text.length;
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35);
  return (sum ^ (sum >>> 16)) >>> 0;
}

function hex(half: number): string {
  return half.toString(16).padStart(8, '0');
}
