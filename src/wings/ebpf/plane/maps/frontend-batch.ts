import { bytesOf, FRONTEND, FRONTEND_KEY, tagOf, type Words, wordsIn } from './layout.ts';
import { type EntrySource, writeFrontend, writeFrontendKey } from './map-row.ts';

const KEY_WORDS = wordsIn(FRONTEND_KEY);
const VALUE_WORDS = wordsIn(FRONTEND);
const LEAST_ROOM = 4;

/** Frontends to write, as the kernel takes many at once: keys side by side, and values. */
export class FrontendBatch {
  count = 0;
  keys: Words;
  values: Words;
  /** For each, whether the kernel may have an entry under its key. */
  readonly mayExist: boolean[] = [];

  /** `expected`: about so many, most Services having one frontend. */
  constructor(expected: number) {
    const room = Math.max(expected, LEAST_ROOM);
    this.keys = new Int32Array(room * KEY_WORDS);
    this.values = new Int32Array(room * VALUE_WORDS);
  }

  add(source: EntrySource, mayExist: boolean): void {
    if ((this.count + 1) * KEY_WORDS > this.keys.length) this.#double();
    const key = this.count * KEY_WORDS;
    writeFrontendKey(this.keys, key, source);
    const tag = tagOf(this.keys, key);
    writeFrontend(this.values, this.count * VALUE_WORDS, { ...source, tag });
    this.mayExist.push(mayExist);
    this.count += 1;
  }

  key(index: number): Buffer {
    const at = index * FRONTEND_KEY.bytes;
    return bytesOf(this.keys).subarray(at, at + FRONTEND_KEY.bytes);
  }

  value(index: number): Buffer {
    const at = index * FRONTEND.bytes;
    return bytesOf(this.values).subarray(at, at + FRONTEND.bytes);
  }

  /** Where an entry lies, in words. */
  at(index: number): { key: number; value: number } {
    return { key: index * KEY_WORDS, value: index * VALUE_WORDS };
  }

  #double(): void {
    const keys = new Int32Array(this.keys.length * 2);
    const values = new Int32Array(this.values.length * 2);
    keys.set(this.keys);
    values.set(this.values);
    this.keys = keys;
    this.values = values;
  }
}
