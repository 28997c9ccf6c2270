import { NetlinkError } from '../../../linux/netlink/errors.ts';
import { sleep } from '../../../time/sleep.ts';

const RETRY_MS = 1000;

export interface RouteWriter {
  add(address: string): Promise<void>;
  remove(address: string): Promise<void>;
}

/** Writes routes as addresses come and go, in order, and only what has changed. */
export class RouteKeeper {
  readonly #writer: RouteWriter;
  readonly #onProblem: (error: NetlinkError) => void;
  readonly #wanted = new Map<string, boolean>();
  #wake = Promise.withResolvers<void>();
  #settled = Promise.withResolvers<void>();
  #isWaitedFor = false;

  constructor(writer: RouteWriter, onProblem: (error: NetlinkError) => void) {
    this.#writer = writer;
    this.#onProblem = onProblem;
  }

  change(address: string, isPresent: boolean): void {
    this.#wanted.set(address, isPresent);
    this.#wake.resolve();
  }

  /** Resolves when everything that is known now has been written. */
  async settled(): Promise<void> {
    this.#isWaitedFor = true;
    this.#wake.resolve();
    await this.#settled.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
      await this.#write(signal);
      if (this.#isWaitedFor && this.#wanted.size === 0) this.#settled.resolve();
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    for (const [address, isPresent] of this.#wanted) {
      if (signal.aborted) return;
      this.#wanted.delete(address);
      try {
        await (isPresent ? this.#writer.add(address) : this.#writer.remove(address));
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        if (!this.#wanted.has(address)) this.#wanted.set(address, isPresent);
        this.#onProblem(error);
        await sleep(RETRY_MS, signal);
        this.#wake.resolve();
        return;
      }
    }
  }
}
