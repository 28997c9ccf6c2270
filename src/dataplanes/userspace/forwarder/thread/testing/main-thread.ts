import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { SourceClass } from '../../../../../forwarding/model.ts';
import { closeDescriptor } from '../../../../../linux/sockets/descriptors.ts';
import { EventfdCalls, openEventfd } from '../../../../../linux/sockets/eventfd.ts';
import { openListener } from '../../../../../linux/sockets/listener.ts';
import type {
  FromThread,
  FrontendQuestion,
  ThreadEndpoint,
  ThreadStart,
  ToThread,
} from '../../messages.ts';
import {
  COUNT,
  COUNT_FIELDS,
  countSlots,
  MOST_SLOTS,
  openSlots,
  THREAD_COUNT,
} from '../../slots.ts';

const WORKER = new URL('./thread-worker.ts', import.meta.url);
const DEADLINE_MS = 20_000;

/** What a frontend leads to. */
export interface TestTarget {
  readonly list: number;
  readonly masquerade?: boolean;
  readonly isSticky?: boolean;
}

/** `Omit` for each of several shapes. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

type Numbered = Extract<ToThread, { id: number }>;

/** The main thread of a forwarder, as a test needs it: it answers questions from what it was told. */
export class TestMainThread {
  readonly listener: { readonly fd: number; readonly port: number };
  readonly counts = countSlots();
  readonly open: SharedArrayBuffer;
  readonly avoided: SharedArrayBuffer;
  readonly heard: FromThread[] = [];
  /** Answers to `stick`; without it they wait. */
  onStick: ((question: Extract<FromThread, { tell: 'stick' }>) => number | null) | undefined;
  readonly #targets = new Map<string, TestTarget | null>();
  readonly #wakeFd = openEventfd();
  readonly #eventfd = new EventfdCalls();
  readonly #port: MessagePort;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (message: FromThread) => void>();
  #lastId = 0;

  constructor(of: {
    readonly address: string;
    readonly source?: SourceClass;
    readonly mostConnections?: number;
    readonly shared?: Pick<TestMainThread, 'listener' | 'open' | 'avoided'>;
    readonly accepts?: boolean;
    readonly keepsClientAddress?: boolean;
  }) {
    const { source = 'pod', mostConnections = 100_000, shared, accepts = true } = of;
    this.listener = shared?.listener ?? openListener(of.address);
    this.open = shared?.open ?? openSlots();
    this.avoided = shared?.avoided ?? openSlots();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: ThreadStart = {
      index: 0,
      listeners: [{ fd: this.listener.fd, source, isIPv6: of.address.includes(':') }],
      wakeFd: this.#wakeFd,
      accepts,
      keepsClientAddress: of.keepsClientAddress ?? true,
      port: port2,
      open: this.open,
      avoided: this.avoided,
      counts: this.counts,
      mostConnections,
    };
    const execArgv = process.execArgv.filter((arg) => arg.startsWith('--cpu-prof'));
    this.#worker = new Worker(WORKER, { workerData, transferList: [port2], execArgv });
    this.#port.on('message', (message: FromThread) => this.#hear(message));
  }

  async ready(): Promise<void> {
    await this.until(({ tell }) => tell === 'ready');
  }

  setTarget(frontend: FrontendQuestion, target: TestTarget | null): void {
    this.#targets.set(keyOf(frontend), target);
    this.#tellTarget(frontend, target);
  }

  setList(list: number, endpoints: readonly ThreadEndpoint[]): void {
    this.tell({ tell: 'list', list, endpoints });
  }

  tell(message: ToThread): void {
    this.tellTogether([message]);
  }

  /** The thread receives them without waiting for events in between. */
  tellTogether(messages: readonly ToThread[]): void {
    for (const message of messages) this.#port.postMessage(message);
    this.#eventfd.raise(this.#wakeFd);
  }

  /** Tells something that has an answer. */
  async ask(message: Unnumbered<Numbered>): Promise<FromThread> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<FromThread>();
    this.#waiting.set(id, resolve);
    const late = () => reject(new Error(`no answer to ${message.tell}`));
    const timer = setTimeout(late, DEADLINE_MS);
    this.tell({ ...message, id } as ToThread);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Resolves with the first message, heard already or later, that is meant. */
  async until(isMeant: (message: FromThread) => boolean): Promise<FromThread> {
    const deadlineMs = performance.now() + DEADLINE_MS;
    for (;;) {
      const found = this.heard.find(isMeant);
      if (found !== undefined) return found;
      if (performance.now() > deadlineMs) throw new Error('the thread did not say it');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  count(slot: number, field: keyof typeof COUNT): number {
    return new Float64Array(this.counts)[slot * COUNT_FIELDS + COUNT[field]] ?? 0;
  }

  threadCount(field: keyof typeof THREAD_COUNT): number {
    const at = MOST_SLOTS * COUNT_FIELDS + THREAD_COUNT[field];
    return new Float64Array(this.counts)[at] ?? 0;
  }

  openCount(slot: number): number {
    return Atomics.load(new Int32Array(this.open), slot);
  }

  async stop({ closesListener = true } = {}): Promise<void> {
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.tell({ tell: 'stop' });
    await exited;
    this.#port.close();
    closeDescriptor(this.#wakeFd);
    if (closesListener) closeDescriptor(this.listener.fd);
  }

  #hear(message: FromThread): void {
    if (message.tell === 'broken') throw new Error(message.message);
    this.heard.push(message);
    if ('id' in message) this.#waiting.get(message.id)?.(message);
    if (message.tell === 'ask') {
      const target = this.#targets.get(keyOf(message.frontend));
      if (target !== undefined) this.#tellTarget(message.frontend, target);
    }
    if (message.tell === 'stick' && this.onStick !== undefined) {
      const slot = this.onStick(message);
      this.tell({ tell: 'stick', connection: message.connection, slot });
    }
  }

  #tellTarget(frontend: FrontendQuestion, target: TestTarget | null): void {
    const full = target === null ? null : { masquerade: true, isSticky: false, ...target };
    this.tell({ tell: 'target', frontend, target: full });
  }
}

function keyOf({ address, port, source }: FrontendQuestion): string {
  return `${address} ${port} ${source}`;
}
