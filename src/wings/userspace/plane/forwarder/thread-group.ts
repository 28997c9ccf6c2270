import type { WireConnection } from '../protocol.ts';
import type { CopyingThread } from './copying-threads.ts';
import type { MovedPair, ThreadConnection } from './messages.ts';

/** Below the agent's own deadline of two seconds. */
const PULSE_MS = 1_500;
const ANSWER_MS = 5_000;
/** So long the kernel has to take new connections after one found no room. */
const LACKS_ROOM_MS = 3_000;

/** All copying threads, asked together. Every call rejects if one of them does not answer in time. */
export class ThreadGroup {
  readonly threads: readonly CopyingThread[];
  #nextTaker = 0;
  #lackedRoomAtMs = Number.NEGATIVE_INFINITY;

  constructor(threads: readonly CopyingThread[]) {
    this.threads = threads;
  }

  /** How many connections they have. */
  async pulse(): Promise<number> {
    const answers = await Promise.all(
      this.threads.map((thread) => thread.request<'pulse'>({ tell: 'pulse' }, PULSE_MS)),
    );
    if (answers.some(({ hasRoom }) => !hasRoom)) this.#lackedRoomAtMs = performance.now();
    return answers.reduce((sum, { open }) => sum + open, 0);
  }

  /** Of late a connection that had been accepted could not be held. */
  get lacksRoom(): boolean {
    return performance.now() - this.#lackedRoomAtMs < LACKS_ROOM_MS;
  }

  /** These endpoints left their rows. */
  gone(slots: readonly number[]): void {
    for (const thread of this.threads) thread.send({ tell: 'gone', slots });
  }

  async setAccepting(accepts: boolean): Promise<void> {
    const tell = accepts ? 'accept-again' : 'stop-accepting';
    await Promise.all(this.threads.map((thread) => thread.request<'done'>({ tell }, ANSWER_MS)));
  }

  /** The oldest ones of all threads, and how many there are. */
  async connections(most: number): Promise<{ first: ThreadConnection[]; count: number }> {
    const answers = await Promise.all(
      this.threads.map((thread) =>
        thread.request<'connections'>({ tell: 'connections', most }, ANSWER_MS),
      ),
    );
    const all = answers.flatMap(({ first }) => first);
    all.sort((a, b) => a.openedAtMs - b.openedAtMs);
    return {
      first: all.slice(0, most),
      count: answers.reduce((sum, { count }) => sum + count, 0),
    };
  }

  async end(
    connections: readonly Pick<WireConnection, 'client' | 'frontend'>[],
  ): Promise<{ ended: number }> {
    const answers = await Promise.all(
      this.threads.map((thread) =>
        thread.request<'ended'>({ tell: 'end', connections }, ANSWER_MS),
      ),
    );
    return { ended: answers.reduce((sum, { count }) => sum + count, 0) };
  }

  /**
   * Established pairs that can move. `settle` says whether they were taken. When a thread does not answer,
   * all of them go on with theirs, also that one if it reads the question later.
   */
  async givePairs(): Promise<{ pairs: MovedPair[]; settle: (taken: boolean) => void }> {
    const settle = (taken: boolean): void => {
      for (const thread of this.threads) thread.send({ tell: 'given', id: 0, taken });
    };
    try {
      const answers = await Promise.all(
        this.threads.map((thread) => thread.request<'moved'>({ tell: 'give-pairs' }, ANSWER_MS)),
      );
      return { pairs: answers.flatMap(({ pairs }) => pairs), settle };
    } catch (error) {
      settle(false);
      throw error;
    }
  }

  /** Spread over the threads, in turn. */
  takePairs(pairs: readonly MovedPair[]): void {
    const shares = this.threads.map((): MovedPair[] => []);
    for (const pair of pairs) shares[this.#nextTaker++ % shares.length]?.push(pair);
    for (const [index, share] of shares.entries()) {
      if (share.length > 0) this.threads[index]?.send({ tell: 'take-pairs', pairs: share });
    }
  }

  /** Resolves when all of them have ended; false if one has not in time. */
  async stop(withinMs: number): Promise<boolean> {
    const ends = await Promise.all(this.threads.map((thread) => thread.stop(withinMs)));
    return ends.every((ended) => ended);
  }
}
