import type { Endpoint } from '../../forwarding/model.ts';

/**
 * Numbers for names that the kernel has only a few bytes for. A number is derived from the name
 * alone, so it is the same after a restart, which keeps affinity; if another name has it already,
 * it is the next free one. Numbers found in the kernel are adopted, because the order of arrival is
 * lost with the process.
 */
export class Numbers {
  readonly #bits: number;
  readonly #numbers = new Map<string, number>();
  readonly #taken = new Set<number>();

  constructor(bits = 32) {
    this.#bits = bits;
  }

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = firstFree(hash(name) % 2 ** this.#bits, this.#taken, this.#bits);
    this.#take(name, number);
    return number;
  }

  has(name: string): boolean {
    return this.#numbers.has(name);
  }

  /** Keeps the number that a name had in the kernel, unless either is assigned otherwise. */
  adopt(name: string, number: number): void {
    if (!this.#numbers.has(name) && !this.#taken.has(number)) this.#take(name, number);
  }

  /** The name is no longer used. */
  release(name: string): void {
    const number = this.#numbers.get(name);
    if (number === undefined) return;
    this.#numbers.delete(name);
    this.#taken.delete(number);
  }

  /** Releases all other names: the kernel has nothing of them. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#numbers.keys()) if (!names.has(name)) this.release(name);
  }

  get size(): number {
    return this.#numbers.size;
  }

  #take(name: string, number: number): void {
    this.#taken.add(number);
    this.#numbers.set(name, number);
  }
}

/** A number for each endpoint of a list, in its order; no two are equal. */
export function memberIds(endpoints: readonly Endpoint[]): readonly number[] {
  const taken = new Set<number>();
  return endpoints.map((endpoint) => {
    const id = memberId(endpoint, taken);
    taken.add(id);
    return id;
  });
}

export function memberId({ address, port }: Endpoint, taken: ReadonlySet<number>): number {
  return firstFree(hash(`${address} ${port}`), taken, 32);
}

function firstFree(wanted: number, taken: { has(number: number): boolean }, bits: number): number {
  let number = wanted;
  while (taken.has(number)) number = (number + 1) % 2 ** bits;
  return number;
}

/** FNV-1a with a final mix: short, and good for names that differ in their last letters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
