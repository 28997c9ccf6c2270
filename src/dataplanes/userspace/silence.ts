import { setTimeout as delay } from 'node:timers/promises';
import { connectDescriptors } from '../../linux/sockets/pass-descriptors.ts';
import { listeningPid } from '../../linux/sockets/peer.ts';
import { ANSWER_MS, isNobody } from './running.ts';

/** Its threads may still copy for open connections, and a busy machine recovers. */
const HUNG_MS = 30_000;
const POLL_MS = 20;

/** Since when a forwarder has not answered. */
export class Silence {
  readonly #handoverPath: string;
  #sinceMs: number | undefined;

  constructor(handoverPath: string) {
    this.#handoverPath = handoverPath;
  }

  note(): void {
    this.#sinceMs ??= performance.now();
  }

  end(): void {
    this.#sinceMs = undefined;
  }

  get isNoted(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** It hangs for good. */
  get isOver(): boolean {
    return this.#sinceMs !== undefined && performance.now() - this.#sinceMs >= HUNG_MS;
  }

  /** Kills the process that has the sockets, which never told its number. */
  async kill(): Promise<void> {
    const deadlineMs = performance.now() + ANSWER_MS;
    const pid = await this.#listener();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    while ((await this.#listener()) !== undefined && performance.now() < deadlineMs) {
      await delay(POLL_MS);
    }
    this.end();
  }

  /** Undefined: no process listens. */
  async #listener(): Promise<number | undefined> {
    try {
      using socket = await connectDescriptors(this.#handoverPath, { timeoutMs: ANSWER_MS });
      return listeningPid(socket.fd);
    } catch (error) {
      if (isNobody(error)) return undefined;
      throw error;
    }
  }
}
