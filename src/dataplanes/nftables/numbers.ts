import type { Endpoint } from '../../forwarding/model.ts';

/**
 * Numbers for names that the kernel has only four bytes for. A number follows from the name alone,
 * so it is the same after a restart, which is what keeps clients where they are; unless another
 * name has it already, then it is the next that is free.
 */
export class Numbers {
  readonly #numbers = new Map<string, number>();
  readonly #taken = new Set<number>();

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = firstFree(hash(name), this.#taken);
    this.#taken.add(number);
    this.#numbers.set(name, number);
    return number;
  }
}

/** A number for each endpoint of a list, in its order; no two are equal. */
export function memberIds(endpoints: readonly Endpoint[]): readonly number[] {
  const taken = new Set<number>();
  return endpoints.map(({ address, port }) => {
    const id = firstFree(hash(`${address} ${port}`), taken);
    taken.add(id);
    return id;
  });
}

function firstFree(wanted: number, taken: ReadonlySet<number>): number {
  let number = wanted;
  while (taken.has(number)) number = (number + 1) >>> 0;
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
