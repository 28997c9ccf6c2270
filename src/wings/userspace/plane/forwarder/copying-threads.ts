import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { EventfdCalls, openEventfd } from '../../../../linux/userspace/eventfd.ts';
import type { WireConnection } from '../forwarder-protocol.ts';
import { countSlots } from './slots.ts';
import type {
  FromThread,
  MovedPair,
  ThreadConnection,
  ThreadStart,
  ToThread,
} from './thread-messages.ts';

/** Below the agent's own deadline of two seconds. */
const PULSE_MS = 1_500;
const ANSWER_MS = 5_000;
/** So long the kernel has to take new connections after one found no room. */
const LACKS_ROOM_MS = 3_000;

/** Messages from a thread that no request waits for. */
export interface ThreadEvents {
  onStick(thread: CopyingThread, message: Extract<FromThread, { readonly tell: 'stick' }>): void;
  /** It cannot go on; the process must end. */
  onBroken(message: string): void;
}

export interface ThreadOptions {
  readonly program: URL;
  readonly start: Omit<ThreadStart, 'wakeFd' | 'port' | 'counts'>;
  readonly events: ThreadEvents;
}

/** An answer that did not come in time. */
class ThreadSilentError extends Error {
  override readonly name = 'ThreadSilentError';
}

type Answering = Extract<FromThread, { readonly id: number }>;
type WithId = Extract<ToThread, { readonly id: number }>;
type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

interface Waiting {
  readonly resolve: (answer: Answering) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The main thread's side of one copying thread. */
export class CopyingThread {
  readonly counts: Float64Array;
  readonly #name: string;
  readonly #port: MessagePort;
  readonly #wakeFd: number;
  readonly #eventfd = new EventfdCalls();
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended = Promise.withResolvers<true>();
  #lastId = 0;
  #isStopping = false;

  constructor(index: number, { program, start, events }: ThreadOptions) {
    this.#name = `copy-${index}`;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#wakeFd = openEventfd();
    const counts = countSlots();
    this.counts = new Float64Array(counts);
    const workerData = { ...start, wakeFd: this.#wakeFd, port: port2, counts };
    const worker = new Worker(program, { workerData, transferList: [port2], name: this.#name });
    worker.on('error', (error) => events.onBroken(error.stack ?? String(error)));
    worker.on('exit', () => {
      this.#ended.resolve(true);
      if (!this.#isStopping) events.onBroken('it ended');
    });
    port1.on('message', (message: FromThread) => this.#receive(message, events));
  }

  send(message: ToThread): void {
    this.#port.postMessage(message);
    this.#eventfd.raise(this.#wakeFd);
  }

  /** Rejects with a ThreadSilentError. */
  async request<Tell extends Answering['tell']>(
    message: Unnumbered<WithId>,
    withinMs: number,
  ): Promise<Extract<Answering, { readonly tell: Tell }>> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Answering>();
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      const what = `thread ${this.#name} did not answer '${message.tell}' in ${withinMs} ms`;
      reject(new ThreadSilentError(what));
    }, withinMs);
    this.#waiting.set(id, { resolve, reject, timer });
    this.send({ ...message, id } as ToThread);
    return (await promise) as Extract<Answering, { readonly tell: Tell }>;
  }

  /** It resets its connections. False: it has not ended in time. */
  async stop(withinMs: number): Promise<boolean> {
    this.#isStopping = true;
    this.send({ tell: 'stop' });
    const { promise, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), withinMs);
    const hasEnded = await Promise.race([this.#ended.promise, promise]);
    clearTimeout(timer);
    return hasEnded;
  }

  #receive(message: FromThread, events: ThreadEvents): void {
    if (message.tell === 'stick') {
      events.onStick(this, message);
      return;
    }
    // An answer after its deadline is dropped.
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.id);
    clearTimeout(waiting.timer);
    waiting.resolve(message);
  }
}

/** All copying threads, asked together. Every call rejects if one of them does not answer in time. */
export class ThreadGroup {
  readonly threads: readonly CopyingThread[];
  #nextTaker = 0;
  #lackedRoomAtMs = Number.NEGATIVE_INFINITY;

  constructor(threads: readonly CopyingThread[]) {
    this.threads = threads;
  }

  /** How many connections they have. */
  async pulse(withinMs = PULSE_MS): Promise<number> {
    const answers = await this.#request<'pulse'>({ tell: 'pulse' }, withinMs);
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

  async setAccepting(isWanted: boolean): Promise<void> {
    await this.#request<'done'>({ tell: 'accept', isWanted });
  }

  /** The oldest ones of all threads, and how many there are. */
  async connections(most: number): Promise<{ first: ThreadConnection[]; count: number }> {
    const answers = await this.#request<'connections'>({ tell: 'connections', most });
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
    const answers = await this.#request<'ended'>({ tell: 'end', connections });
    return { ended: answers.reduce((sum, { count }) => sum + count, 0) };
  }

  /**
   * Established pairs that can move. `settle` says whether they were taken. When a thread does not answer,
   * all of them go on with theirs, also that one if it reads the question later.
   */
  async givePairs(): Promise<{ pairs: MovedPair[]; settle: (taken: boolean) => void }> {
    const settle = (taken: boolean): void => {
      for (const thread of this.threads) thread.send({ tell: 'given', taken });
    };
    try {
      const answers = await this.#request<'moved'>({ tell: 'give-pairs' });
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
  async #request<Tell extends Answering['tell']>(
    message: Unnumbered<WithId>,
    withinMs = ANSWER_MS,
  ): Promise<Extract<Answering, { readonly tell: Tell }>[]> {
    return await Promise.all(this.threads.map((thread) => thread.request<Tell>(message, withinMs)));
  }
}
