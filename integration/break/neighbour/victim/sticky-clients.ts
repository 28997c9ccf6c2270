import { setTimeout as pause } from 'node:timers/promises';
import type { Destination, Origin } from '../../../../lab/host/sockets.ts';
import { whoAnswers } from './who-answers.ts';

const CLIENTS_AT_ONCE = 5;
const EVERY_MS = 500;
const PREFIX = '10.204';

/** The pods that answered the first and the second connection of a client. Undefined: none. */
export interface StickyClient {
  readonly first: string | undefined;
  readonly again: string | undefined;
}

/** New clients of a sticky Service all the time, each from an address of its own, each coming twice. */
export class StickyClients {
  readonly asked: StickyClient[] = [];
  readonly #from: Origin;
  readonly #to: Destination;
  #next = 1;

  constructor(from: Origin, to: Destination) {
    this.#from = from;
    this.#to = to;
  }

  async goOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const clients = Array.from({ length: CLIENTS_AT_ONCE }, () => this.#comeTwice());
      this.asked.push(...(await Promise.all(clients)));
      if (!signal.aborted) await pause(EVERY_MS);
    }
  }

  async #comeTwice(): Promise<StickyClient> {
    const serial = this.#next++;
    const sourceAddress = `${PREFIX}.${(serial >> 8) & 0xff}.${serial & 0xff}`;
    const first = await this.#ask(sourceAddress);
    return { first, again: await this.#ask(sourceAddress) };
  }

  async #ask(sourceAddress: string): Promise<string | undefined> {
    return await whoAnswers({ ...this.#from, sourceAddress }, this.#to);
  }
}
