import type net from 'node:net';
import { type Destination, dialTcp, type Origin } from '../../../../lab/host/sockets.ts';

const CONNECT_DEADLINE_MS = 10_000;

/** Connections that send nothing. */
export class IdleConnections implements Disposable {
  readonly #sockets: net.Socket[] = [];

  /** All at once; resolves when each is connected or was rejected. */
  async dial(from: Origin, to: Destination, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#dialOne(from, to)));
  }

  /** Those that the other side has not closed. */
  get openCount(): number {
    return this.#sockets.filter(({ destroyed }) => !destroyed).length;
  }

  async #dialOne(from: Origin, to: Destination): Promise<void> {
    const socket = dialTcp(from, to);
    this.#sockets.push(socket);
    socket.setTimeout(CONNECT_DEADLINE_MS, () => socket.connecting && socket.destroy());
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once('connect', () => resolve());
    // A reset is an outcome: `openCount` tells.
    socket.on('error', () => resolve());
    socket.once('close', () => resolve());
    socket.resume();
    await promise;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
