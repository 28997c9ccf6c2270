import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { EndpointList, SourceClass } from '../../../../../../forwarding/model.ts';
import { closeDescriptor } from '../../../../../../linux/sockets/descriptors.ts';
import { openListener } from '../../../../../../linux/sockets/listener.ts';
import {
  encodeSocketAddress,
  type SocketAddress,
} from '../../../../../../linux/sockets/socket-address.ts';
import { EventfdCalls, openEventfd } from '../../../../../../linux/userspace/eventfd.ts';
import { KEPT_PORTS, type Ports } from '../../../../../../linux/userspace/source-ports.ts';
import { addressKey, keyText } from '../../address-key.ts';
import { LISTS, listAt, load, ROW_MEMORY_BYTES } from '../../row-memory.ts';
import { RowWriter } from '../../row-writer.ts';
import {
  ADDRESS_BYTES,
  COUNT,
  COUNT_FIELDS,
  countSlots,
  MOST_SLOTS,
  openSharedMemory,
  type SharedMemory,
  THREAD_COUNT,
} from '../../slots.ts';
import type { FromThread, ThreadStart, ToThread } from '../../thread-messages.ts';

const WORKER = new URL('./thread-worker.ts', import.meta.url);
const DEADLINE_MS = 20_000;

export interface TestEndpoint extends SocketAddress {
  readonly slot: number;
}

/** What a frontend leads to: the row that `setList` has set. */
export interface TestTarget {
  readonly list: number;
  readonly masquerade?: boolean;
  readonly isSticky?: boolean;
}

/** `Omit` for each of several shapes. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

type Numbered = Extract<ToThread, { id: number }>;

const HALF_CLOSED_MS = 60_000;

/** The main thread of a forwarder, as a test needs it: rows and slots are what the test says. */
export class TestMainThread {
  readonly listener: { readonly fd: number; readonly port: number };
  readonly counts = countSlots();
  readonly memory: SharedMemory;
  readonly heard: FromThread[] = [];
  /** Answers to `stick`; without it they wait. */
  onStick: ((question: Extract<FromThread, { tell: 'stick' }>) => number | null) | undefined;
  readonly #writer: RowWriter;
  readonly #rowOfFrontend = new Map<string, number>();
  readonly #accepts: boolean;
  readonly #wakeFd = openEventfd();
  readonly #eventfd = new EventfdCalls();
  readonly #port: MessagePort;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (message: FromThread) => void>();
  #lastId = 0;

  constructor(options: {
    readonly address: string;
    readonly source?: SourceClass;
    readonly mostConnections?: number;
    readonly halfClosedMs?: number;
    readonly ports?: Ports;
    readonly accepts?: boolean;
    readonly keepsClientAddress?: boolean;
  }) {
    const { source = 'pod', mostConnections = 100_000, accepts = true } = options;
    this.#accepts = accepts;
    this.listener = openListener(options.address);
    this.memory = openSharedMemory(ROW_MEMORY_BYTES);
    this.#writer = new RowWriter(this.memory.rows);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: ThreadStart = {
      listeners: [{ fd: this.listener.fd, source, isIPv6: options.address.includes(':') }],
      wakeFd: this.#wakeFd,
      keepsClientAddress: options.keepsClientAddress ?? true,
      port: port2,
      memory: this.memory,
      counts: this.counts,
      mostConnections,
      halfClosedMs: options.halfClosedMs ?? HALF_CLOSED_MS,
      ports: options.ports ?? KEPT_PORTS,
    };
    const execArgv = process.execArgv.filter((arg) => arg.startsWith('--cpu-prof'));
    this.#worker = new Worker(WORKER, { workerData, transferList: [port2], execArgv });
    this.#port.on('message', (message: FromThread) => this.#hear(message));
  }

  async ready(): Promise<void> {
    await this.ask({ tell: 'accept', isWanted: this.#accepts });
  }

  /** Null: there is no such frontend. */
  setTarget(frontend: SocketAddress, target: TestTarget | null): void {
    const key = addressKey(frontend);
    this.#writer.write(() => {
      const before = this.#rowOfFrontend.get(keyText(key));
      if (before !== undefined) this.#writer.removeFrontend(before, key);
      this.#rowOfFrontend.delete(keyText(key));
      if (target === null) return;
      const { list: row, masquerade = true, isSticky = false } = target;
      const treatment = { list: 'cluster', masquerade } as const;
      this.#writer.setSticky(row, isSticky);
      const treatments = { pod: treatment, host: treatment, outside: treatment };
      this.#writer.addFrontend(row, key, treatments);
      this.#rowOfFrontend.set(keyText(key), row);
    });
  }

  /** The endpoints of a row, in place of those it had. */
  setList(row: number, endpoints: readonly TestEndpoint[]): void {
    const writer = this.#writer;
    const before = this.#slotsOf(row, 'cluster');
    for (const { slot, address, port } of endpoints) {
      const bytes = Buffer.from(this.memory.addresses, slot * ADDRESS_BYTES, ADDRESS_BYTES);
      encodeSocketAddress(bytes, { address, port });
    }
    writer.write(() => {
      for (const slot of before) writer.remove(row, 'cluster', slot);
      writer.reserve(row, 'cluster', endpoints.length);
      for (const { slot } of endpoints) writer.add(row, 'cluster', slot);
    });
  }

  tell(message: ToThread): void {
    this.tellTogether([message]);
  }

  /** The thread receives them without waiting for events in between. */
  tellTogether(messages: readonly ToThread[]): void {
    for (const message of messages) {
      // As the directory of a forwarder counts it.
      if (message.tell === 'stick' && message.slot !== null) {
        Atomics.add(new Int32Array(this.memory.open), message.slot, 1);
      }
      this.#port.postMessage(message);
    }
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
    return Atomics.load(new Int32Array(this.memory.open), slot);
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
    this.heard.push(message);
    if ('id' in message) this.#waiting.get(message.id)?.(message);
    if (message.tell === 'stick' && this.onStick !== undefined) {
      const slot = this.onStick(message);
      this.tell({ tell: 'stick', connection: message.connection, slot });
    }
  }

  #slotsOf(row: number, list: EndpointList): number[] {
    const words = new Int32Array(this.memory.rows);
    const at = listAt(row, list);
    const [start, size] = [LISTS + load(words, at), load(words, at + 1)];
    return Array.from({ length: size }, (_, index) => load(words, start + index));
  }
}
