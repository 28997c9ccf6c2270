import type { FingerprintExtent, IpvsFingerprint } from './ipvs-model.ts';
import { type OnLine, readListing } from './listing.ts';

const SPACE = 0x20;
const ARROW = 0x2d;
/** Of a destination the address, the forwarding method and the weight; connections follow. */
const CONFIGURED_WORDS = 4;
/** First letters of TCP, UDP, SCTP and FWM: other lines are the head. */
const SERVER_LETTERS: ReadonlySet<number> = new Set([...'TUSF'].map((c) => c.charCodeAt(0)));
const FIRST_HASH = 0x811c9dc5;
const SECOND_HASH = 0x9e3779b9;

/**
 * Sums a hash of every line, so that the order in the kernel's table does not matter. The hash of a
 * destination begins with that of its virtual server.
 */
export async function readFingerprint(extent: FingerprintExtent): Promise<IpvsFingerprint> {
  const sum = new LineSum();
  const onLine: OnLine = (bytes, from, to) => sum.add(bytes, from, to);
  await readListing(onLine, extent === 'begin' ? { mostReads: 1 } : {});
  return sum.result();
}

class LineSum {
  readonly #line = new LineHash();
  #server: { readonly first: number; readonly second: number } | undefined;
  #first = 0;
  #second = 0;
  #virtualServers = 0;
  #destinations = 0;

  add(bytes: Buffer, from: number, to: number): void {
    if (bytes[from] === SPACE) {
      if (this.#server === undefined || bytes[from + 2] !== ARROW) return;
      this.#destinations++;
      this.#line.begin(this.#server.first, this.#server.second);
      this.#line.words(bytes, from, to);
    } else {
      this.#server = undefined;
      if (!SERVER_LETTERS.has(bytes[from] ?? 0)) return;
      this.#virtualServers++;
      this.#line.begin(FIRST_HASH, SECOND_HASH);
      this.#line.whole(bytes, from, to);
      this.#server = { first: this.#line.first, second: this.#line.second };
    }
    this.#first = (this.#first + mixed(this.#line.first)) | 0;
    this.#second = (this.#second + mixed(this.#line.second)) | 0;
  }

  result(): IpvsFingerprint {
    return {
      digest: `${hex(this.#first)}${hex(this.#second)}`,
      virtualServers: this.#virtualServers,
      destinations: this.#destinations,
    };
  }
}

/** Two hashes of 32 bits, which JavaScript multiplies without allocating. */
class LineHash {
  first = 0;
  second = 0;

  begin(first: number, second: number): void {
    this.first = first;
    this.second = second;
  }

  whole(bytes: Buffer, from: number, to: number): void {
    let [first, second] = [this.first, this.second];
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      first = Math.imul(first ^ byte, 0x01000193);
      second = Math.imul(second ^ byte, 0x85ebca6b) + 1;
    }
    this.begin(first, second);
  }

  /** To the end of the words that say the configuration. */
  words(bytes: Buffer, from: number, to: number): void {
    let words = 0;
    let at = from;
    while (at < to && words < CONFIGURED_WORDS) {
      while (at < to && bytes[at] === SPACE) at++;
      while (at < to && bytes[at] !== SPACE) at++;
      words++;
    }
    this.whole(bytes, from, at);
  }
}

/** Spreads the bits, so that a sum of similar lines is not similar. */
function mixed(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}

function hex(number: number): string {
  return (number >>> 0).toString(16).padStart(8, '0');
}
