import type { Logger } from '../log/logger.ts';
import { type Assessed, assess } from './assess.ts';
import type { Conditions } from './conditions.ts';

interface Said {
  readonly isTrue: boolean;
  readonly sinceMs: number;
}

/** Records since when each condition is true or false, and logs when one changes. */
export class ConditionBook {
  readonly #log: Logger;
  readonly #onNews: ((name: string, isTrue: boolean) => void) | undefined;
  readonly #said = new Map<string, Said>();
  readonly #wereTrue = new Set<string>();

  constructor(log: Logger, onNews?: (name: string, isTrue: boolean) => void) {
    this.#log = log;
    this.#onNews = onNews;
  }

  conditions(about: Assessed): Conditions {
    return assess(about, (name, isTrue) => this.#since(name, { isTrue, sinceMs: about.nowMs }));
  }

  #since(name: string, now: Said): number {
    const before = this.#said.get(name);
    if (before?.isTrue === now.isTrue) return before.sinceMs;
    this.#said.set(name, now);
    const { isTrue } = now;
    // At every start all become true, one after the other; `apiFresh` covers the single watches.
    const isNews = (!isTrue || this.#wereTrue.has(name)) && !name.startsWith('connected.');
    if (isTrue) this.#wereTrue.add(name);
    if (before !== undefined) {
      const message = isTrue ? 'condition is true again' : 'condition is false';
      this.#log[isNews ? 'info' : 'debug']({ condition: name }, message);
      if (isNews) this.#onNews?.(name, isTrue);
    }
    return now.sinceMs;
  }
}
