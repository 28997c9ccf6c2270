import { setTimeout as delay } from 'node:timers/promises';
import { ANSWER_MS, processAt } from './running.ts';

/** Its threads may still copy for open connections, and a busy machine recovers. */
const HUNG_MS = 30_000;
const POLL_MS = 20;

/** Since when a forwarder has not answered. */
export class Silence {
  readonly #handoverPath: string;
  readonly #hungMs: number;
  #sinceMs: number | undefined;

  constructor(handoverPath: string, hungMs = HUNG_MS) {
    this.#handoverPath = handoverPath;
    this.#hungMs = hungMs;
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
    return this.#sinceMs !== undefined && performance.now() - this.#sinceMs >= this.#hungMs;
  }

  /** Kills the process that has the sockets, which never told its number. */
  async kill(): Promise<void> {
    const deadlineMs = performance.now() + ANSWER_MS;
    const pid = await processAt(this.#handoverPath);
    if (pid) process.kill(pid, 'SIGKILL');
    while (pid && (await processAt(this.#handoverPath)) === pid && performance.now() < deadlineMs) {
      await delay(POLL_MS);
    }
    this.end();
  }
}
