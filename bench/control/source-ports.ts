import { LabError } from '../../lab/host/errors.ts';

/**
 * Source ports of the attempts. Below the ephemeral ports and the node ports, so that no other
 * process uses them; above the ports that proxies listen on.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 29_999;

/**
 * An unanswered SYN leaves a conntrack entry for 120 s: untranslated, if there were no rules yet.
 * A new attempt from the same port within that time matches the entry and gets no answer either,
 * even if the rules are correct by then.
 */
const REST_MS = 130_000;

/** Gives a port for each attempt, in order, and none with a conntrack entry of a failed one. */
export class SourcePorts {
  readonly #now: () => number;
  readonly #restsUntilMs = new Map<number, number>();
  #last = LAST_PORT;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  take(): number {
    for (let tried = FIRST_PORT; tried <= LAST_PORT; tried++) {
      this.#last = this.#last === LAST_PORT ? FIRST_PORT : this.#last + 1;
      if ((this.#restsUntilMs.get(this.#last) ?? 0) > this.#now()) continue;
      this.#restsUntilMs.delete(this.#last);
      return this.#last;
    }
    throw new LabError('LAB_USAGE', 'every source port has a conntrack entry of a failed attempt', {
      next: 'connect less often while there is no answer',
    });
  }

  failed(port: number): void {
    this.#restsUntilMs.set(port, this.#now() + REST_MS);
  }
}
