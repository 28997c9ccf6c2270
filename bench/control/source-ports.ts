import { LabError } from '../../lab/host/errors.ts';

/**
 * Where a try comes from. Below the ports that the kernel gives to others and below node ports, so
 * that nobody else is met; above those that proxies listen on.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 29_999;

/**
 * A try that nobody answered is remembered by connection tracking for 120 s as it was: untranslated,
 * if there were no rules yet. Whoever comes from the same port within that time is led the same way
 * and waits in vain, however right the rules are by then.
 */
const REST_MS = 130_000;

/** Gives a port for each try, in order, and none that a failed try has left something behind at. */
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
