import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { EventfdCalls, openEventfd } from '../../../../linux/userspace/eventfd.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';
import { countSlots } from './slots.ts';

/** Messages from a thread that no request waits for. */
export interface ThreadEvents {
  onStick(thread: CopyingThread, message: Extract<FromThread, { readonly tell: 'stick' }>): void;
  /** It cannot go on; the process must end. */
  onBroken(message: string): void;
}

export interface ThreadOptions {
  readonly program: URL;
  readonly start: Omit<ThreadStart, 'index' | 'wakeFd' | 'port' | 'counts'>;
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
  readonly index: number;
  readonly counts: Float64Array;
  readonly #port: MessagePort;
  readonly #wakeFd: number;
  readonly #eventfd = new EventfdCalls();
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<true>();
  #lastId = 0;
  #isStopping = false;

  constructor(index: number, { program, start, events }: ThreadOptions) {
    this.index = index;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#wakeFd = openEventfd();
    const counts = countSlots();
    this.counts = new Float64Array(counts);
    const workerData = { ...start, index, wakeFd: this.#wakeFd, port: port2, counts };
    const worker = new Worker(program, {
      workerData,
      transferList: [port2],
      name: `copy-${index}`,
    });
    worker.on('error', (error) => events.onBroken(String(error)));
    worker.on('exit', () => {
      this.#ended.resolve(true);
      if (!this.#isStopping) events.onBroken('it ended');
    });
    port1.on('message', (message: FromThread) => this.#receive(message, events));
  }

  /** Within so many milliseconds. */
  async ready(withinMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#ready.reject(new ThreadSilentError(`thread ${this.index} did not start`));
    }, withinMs);
    await this.#ready.promise.finally(() => clearTimeout(timer));
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
      const what = `thread ${this.index} did not answer '${message.tell}' in ${withinMs} ms`;
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
    switch (message.tell) {
      case 'ready':
        this.#ready.resolve();
        return;
      case 'broken':
        events.onBroken(message.message);
        return;
      case 'stick':
        events.onStick(this, message);
        return;
      default:
        this.#answered(message);
    }
  }

  /** An answer after its deadline is dropped. */
  #answered(message: Answering): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.id);
    clearTimeout(waiting.timer);
    waiting.resolve(message);
  }
}
