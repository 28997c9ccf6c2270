import type { Logger } from '../log/logger.ts';
import type { AgentObserver } from './observer.ts';

/** Calls every observer; none of them can disturb the others, or the agent. */
export class Observers {
  readonly #observers: readonly AgentObserver[];
  readonly #log: Logger;

  constructor(observers: readonly AgentObserver[], log: Logger) {
    this.#observers = observers;
    this.#log = log;
  }

  tell(what: (observer: AgentObserver) => void): void {
    for (const observer of this.#observers) {
      try {
        what(observer);
      } catch (error) {
        this.#log.error({ err: error }, 'an observer of the agent failed');
      }
    }
  }
}
