import type net from 'node:net';
import { dialTcp } from '../../../../lab/host/sockets.ts';
import { until } from '../../../../lab/host/until.ts';
import type { ClientPorts, Target } from './connections.ts';

const QUESTION = 'GET /hostname HTTP/1.1\r\n\r\n';
const OPEN_DEADLINE_MS = 60_000;
const ANSWER_DEADLINE_MS = 30_000;
/** More at once would overflow the queue of the server. */
const OPENED_AT_ONCE = 200;

interface Held {
  socket: net.Socket;
  answers: number;
  error?: string;
}

/** Connections that stay open, and must answer before and after a fault. */
export class HeldConnections implements Disposable {
  readonly #target: Target;
  readonly #ports: ClientPorts;
  readonly #held: Held[] = [];

  constructor(target: Target, ports: ClientPorts) {
    this.#target = target;
    this.#ports = ports;
  }

  /** Resolves when each of them has been answered. */
  async open(count: number): Promise<void> {
    while (this.#held.length < count) {
      const most = Math.min(OPENED_AT_ONCE, count - this.#held.length);
      for (let index = 0; index < most; index++) this.#held.push(this.#dial());
      await this.#answered(1, OPEN_DEADLINE_MS);
    }
  }

  /** Sends a request on each; returns how many are closed or do not answer. */
  async lost(): Promise<string[]> {
    for (const { socket } of this.#held) if (socket.writable) socket.write(QUESTION);
    await this.#answered(2, ANSWER_DEADLINE_MS).catch(() => undefined);
    const isAlive = ({ answers, error }: Held): boolean => error === undefined && answers === 2;
    return this.#held.filter((held) => !isAlive(held)).map(({ error }) => error ?? 'no answer');
  }

  [Symbol.dispose](): void {
    for (const { socket } of this.#held) socket.destroy();
  }

  async #answered(times: number, deadlineMs: number): Promise<void> {
    const isDone = (): boolean =>
      this.#held.every(({ answers, error }) => answers >= times || error !== undefined);
    await until(isDone, { what: 'answers to held connections', deadlineMs });
  }

  #dial(): Held {
    const held: Held = { socket: this.#connect(), answers: 0 };
    this.#follow(held);
    return held;
  }

  #connect(): net.Socket {
    const { namespace, group } = this.#target;
    return dialTcp({ namespace, group, sourcePort: this.#ports.take() }, this.#target);
  }

  #follow(held: Held): void {
    const { socket } = held;
    let isPortInUse = false;
    socket.on('connect', () => socket.write(QUESTION));
    // Short answers come whole: each is one segment.
    socket.on('data', () => {
      held.answers += 1;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      isPortInUse = error.code === 'EADDRINUSE';
      if (!isPortInUse) held.error = error.message;
    });
    socket.on('close', () => {
      if (isPortInUse) {
        // By another connection of the client: none was made.
        held.socket = this.#connect();
        this.#follow(held);
      } else held.error ??= 'closed';
    });
  }
}
