import type { ClientHttp2Session } from 'node:http2';
import { ClusterError } from './cluster-error.ts';

export interface KeepAliveOptions {
  /** Idle time after which the server is pinged. */
  readonly quietMs: number;
  /** Time without a response to the ping after which the connection is closed. */
  readonly answerMs: number;
}

/** Together below 30 s, within which a dead peer must be noticed. */
export const DEFAULT_KEEP_ALIVE: KeepAliveOptions = { quietMs: 10_000, answerMs: 15_000 };

/**
 * Pings an idle session, and closes it when nothing comes back. TCP alone would keep a connection
 * to a powered-off machine for a quarter of an hour.
 */
export class KeepAlive {
  readonly #session: ClientHttp2Session;
  readonly #options: KeepAliveOptions;
  #heardAtMs = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(session: ClientHttp2Session, options: KeepAliveOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** On the monotonic clock. */
  get lastHeardAtMs(): number {
    return this.#heardAtMs;
  }

  start(): void {
    this.#session.once('close', () => clearTimeout(this.#timer));
    this.#arm(this.#options.quietMs, () => this.#askWhenQuiet());
  }

  heard(): void {
    this.#heardAtMs = performance.now();
  }

  #askWhenQuiet(): void {
    const quietForMs = performance.now() - this.#heardAtMs;
    if (quietForMs < this.#options.quietMs) {
      this.#arm(this.#options.quietMs - quietForMs, () => this.#askWhenQuiet());
      return;
    }
    if (this.#session.destroyed) return;
    const askedAtMs = performance.now();
    this.#session.ping((error) => {
      if (error === null) this.heard();
    });
    // After this process was suspended, the response is in the socket already: it is read before an
    // immediate runs, but after a timer.
    this.#arm(this.#options.answerMs, () => setImmediate(() => this.#judge(askedAtMs)));
  }

  #judge(askedAtMs: number): void {
    if (this.#session.destroyed) return;
    if (this.#heardAtMs >= askedAtMs) {
      this.#askWhenQuiet();
      return;
    }
    const { quietMs, answerMs } = this.#options;
    this.#session.destroy(
      new ClusterError(
        'CLUSTER_CONNECTION_LOST',
        `no response from the API server for ${(quietMs + answerMs) / 1000} s`,
        { next: 'retried automatically; if it persists, check the network and the API server' },
      ),
    );
  }

  #arm(ms: number, then: () => void): void {
    if (this.#session.destroyed) return;
    this.#timer = setTimeout(then, ms);
    this.#timer.unref();
  }
}
