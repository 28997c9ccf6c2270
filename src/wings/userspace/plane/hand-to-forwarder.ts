import type { Hello } from './forwarder-protocol.ts';

export type Ports = Hello['ports'];

/** Writes the elements by which nftables hands connections over; undefined: deletes them. */
export type WriteHandOver = (ports: Ports | undefined) => Promise<void>;

/** Whether new connections go to the forwarder. Writes follow each other in the order of the calls. */
export class HandOver {
  readonly #write: WriteHandOver;
  #last: Promise<void> = Promise.resolve();
  /** Undefined: an agent before this one may have left elements. */
  #isOn: boolean | undefined;
  #why = 'the forwarder is not started yet';
  #isClosed = false;

  constructor(write: WriteHandOver) {
    this.#write = write;
  }

  get isOn(): boolean {
    return this.#isOn === true;
  }

  /** Why connections go to the kernel. */
  get why(): string {
    return this.#why;
  }

  /** The kernel deletes the elements after some seconds: call it again and again. */
  async on(ports: Ports): Promise<void> {
    if (this.#isClosed) return;
    this.#isOn = true;
    await this.#next(ports);
  }

  async off(why: string): Promise<void> {
    this.#why = why;
    if (this.#isOn === false) {
      // The deletion may still be under way, and the caller may be about to end the process.
      await Promise.allSettled([this.#last]);
      return;
    }
    this.#isOn = false;
    try {
      await this.#next(undefined);
    } catch (error) {
      this.#isOn = undefined;
      throw error;
    }
  }

  /** Off for good. */
  async close(why: string): Promise<void> {
    this.#isClosed = true;
    await this.off(why);
  }

  #next(ports: Ports | undefined): Promise<void> {
    const before = this.#last;
    const write = async (): Promise<void> => {
      await Promise.allSettled([before]);
      // A later call has decided otherwise.
      if (ports !== undefined && this.#isOn !== true) return;
      await this.#write(ports);
    };
    this.#last = write();
    return this.#last;
  }
}
