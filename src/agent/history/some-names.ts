import type { Names } from './history-entry.ts';

/** Longer texts are cut: entries are bounded. An IPv6 address has at most 45 characters. */
const LONGEST_NAME = 64;

/** Collects names up to a number, and counts the rest. */
export class NameList {
  readonly #first: string[] = [];
  #count = 0;

  add(name: string, room: number): boolean {
    this.#count++;
    if (room <= 0) return false;
    this.#first.push(shortened(name, LONGEST_NAME));
    return true;
  }

  names(): Names {
    return { first: this.#first, count: this.#count };
  }
}

export function namesOf(all: readonly string[], most: number): Names {
  const first = all.slice(0, most).map((name) => shortened(name, LONGEST_NAME));
  return { first, count: all.length };
}

export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
