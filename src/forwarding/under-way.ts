import type { Forwarding } from './model.ts';
import type { Entry } from './register.ts';
import { type InTurns, someOf } from './turns.ts';

export interface Compiled {
  readonly rows: readonly Forwarding[];
  /** Frontends and endpoints that were compiled. */
  readonly size: number;
}

/** A Service of more frontends and endpoints is compiled in turns: so many take about 10 ms. */
export const MOST_AT_ONCE = 16_000;

/**
 * The Service that is being compiled in turns. At most one: other large ones wait for it, and small
 * ones are compiled between its turns.
 */
export class UnderWay {
  #current: { readonly entry: Entry; readonly work: InTurns<Compiled> } | undefined;

  get isEmpty(): boolean {
    return this.#current === undefined;
  }

  begin(entry: Entry, work: InTurns<Compiled>): void {
    this.#current = { entry, work };
  }

  has(entry: Entry): boolean {
    return this.#current?.entry === entry;
  }

  abandon(entry: Entry): void {
    if (this.has(entry)) this.#current = undefined;
  }

  /** Compiles about so much more of it. Undefined: there is nothing, or not all yet. */
  goOn(most: number): { readonly entry: Entry; readonly compiled: Compiled } | undefined {
    if (this.#current === undefined) return undefined;
    const { entry, work } = this.#current;
    const done = someOf(work, most);
    if (done === undefined) return undefined;
    this.#current = undefined;
    return { entry, compiled: done.result };
  }
}
