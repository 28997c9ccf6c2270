import type { Socket } from 'node:net';
import { isPattern, patternBytes } from './pattern.ts';

/** One side of a checked stream: what it received must be the pattern of its seed. */
export class StreamEnd {
  readonly socket: Socket;
  readonly #seed: number;
  readonly #ended = Promise.withResolvers<'end' | 'reset'>();
  #count = 0;
  #isWrong = false;
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined;

  constructor(socket: Socket, seed: number) {
    this.socket = socket;
    this.#seed = seed;
    socket.on('data', (data: Buffer) => {
      if (!isPattern(data, this.#seed, this.#count)) this.#isWrong = true;
      this.#count += data.length;
      if (this.#waiting !== undefined && this.#count >= this.#waiting.count) {
        this.#waiting.resolve();
      }
    });
    socket.on('end', () => this.#ended.resolve('end'));
    socket.on('error', () => this.#ended.resolve('reset'));
  }

  get count(): number {
    return this.#count;
  }

  async untilReceived(count: number): Promise<void> {
    if (this.#count >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { count, resolve };
    await Promise.race([promise, this.#ended.promise]);
  }

  async send(seed: number, length: number): Promise<void> {
    const data = patternBytes(seed, 0, length);
    await new Promise<void>((resolve) => this.socket.write(data, () => resolve()));
  }

  /** Why it is wrong; empty: it is right. A reset may cost the last bytes, but never alters any. */
  async fault(expected: {
    readonly length: number;
    readonly by: 'end' | 'reset';
  }): Promise<string> {
    const by = await this.#ended.promise;
    if (this.#isWrong) return 'wrong bytes';
    if (by !== expected.by) return `${by} instead of ${expected.by} after ${this.#count} bytes`;
    if (by === 'end' && this.#count !== expected.length) {
      return `${this.#count} of ${expected.length} bytes`;
    }
    return this.#count > expected.length ? `${this.#count} bytes, more than were sent` : '';
  }
}
