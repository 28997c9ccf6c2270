import type { Resource } from './resources.ts';

/** Chooses the path of a resource: the preferred one unless the server lacks it. */
export class ResourcePaths {
  readonly all: readonly string[];
  #index = 0;
  #missing = 0;

  constructor({ path, olderPaths = [] }: Resource) {
    this.all = [path, ...olderPaths];
  }

  get current(): string {
    return this.all[this.#index] ?? '';
  }

  answered(): void {
    this.#missing = 0;
  }

  /** An upgraded server may have it by now. */
  prefer(): void {
    this.#index = 0;
    this.#missing = 0;
  }

  /** The server lacks the path. Returns whether another one is left to try. */
  tryNext(): boolean {
    this.#missing++;
    if (this.#missing >= this.all.length) return false;
    this.#index = (this.#index + 1) % this.all.length;
    return true;
  }
}
