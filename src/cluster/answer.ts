import { once } from 'node:events';
import http2 from 'node:http2';
import { finished } from 'node:stream';
import { ClusterError } from './errors.ts';
import { encodingOf } from './wire/choice.ts';
import type { Encoding } from './wire/encoding.ts';

export interface AnswerOptions {
  readonly signal: AbortSignal;
  /** Within this the answer has to begin. */
  readonly deadlineMs: number;
  /** Called for each part of the body, for whoever keeps account of signs of life. */
  readonly onHeard: () => void;
}

const SECONDS = /^\d{1,6}$/;

/** What the server answers to a request: the status at once, the body as it comes. */
export class Answer {
  readonly status: number;
  /** How the body is written. */
  readonly encoding: Encoding;
  /** How long the server asks us to stay away, if it does. */
  readonly retryAfterMs: number | undefined;
  /** How long the body is, where the server says so. */
  readonly contentBytes: number | undefined;
  readonly #stream: http2.ClientHttp2Stream;
  readonly #signal: AbortSignal;
  readonly #onHeard: () => void;
  #stalledAfterMs: number | undefined;

  static async to(stream: http2.ClientHttp2Stream, options: AnswerOptions): Promise<Answer> {
    const { signal, deadlineMs } = options;
    // Whoever waits for the answer or reads the body is told; in between nobody listens.
    stream.on('error', () => undefined);
    const began = once(stream, 'response');
    const cut = once(stream, 'close').then(() => {
      throw lostError(undefined);
    });
    const late = AbortSignal.timeout(deadlineMs);
    const cancel = (): void => stream.close(http2.constants.NGHTTP2_CANCEL);
    const endings = [signal, late];
    for (const ending of endings) ending.addEventListener('abort', cancel, { once: true });
    try {
      const [headers] = (await Promise.race([began, cut])) as [http2.IncomingHttpHeaders];
      return new Answer(stream, headers, options);
    } catch (error) {
      cancel();
      signal.throwIfAborted();
      if (late.aborted) throw lateError(deadlineMs, error);
      throw error instanceof ClusterError ? error : lostError(error);
    } finally {
      for (const ending of endings) ending.removeEventListener('abort', cancel);
      // Whichever lost the race may fail later, when nobody waits for it.
      began.catch(() => undefined);
      cut.catch(() => undefined);
    }
  }

  constructor(
    stream: http2.ClientHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    options: AnswerOptions,
  ) {
    this.status = Number(headers[http2.constants.HTTP2_HEADER_STATUS]);
    this.encoding = encodingOf(String(headers[http2.constants.HTTP2_HEADER_CONTENT_TYPE] ?? ''));
    const retryAfter = String(headers[http2.constants.HTTP2_HEADER_RETRY_AFTER] ?? '');
    this.retryAfterMs = SECONDS.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
    const length = headers[http2.constants.HTTP2_HEADER_CONTENT_LENGTH];
    this.contentBytes = length === undefined ? undefined : Number(length);
    this.#stream = stream;
    this.#signal = options.signal;
    this.#onHeard = options.onHeard;
  }

  /** From now on so much silence is too much, and ends the body with CLUSTER_STALLED. */
  limitSilence(ms: number): void {
    this.#stream.setTimeout(ms, () => {
      this.#stalledAfterMs = ms;
      this.discard();
    });
  }

  /** Throws ClusterError when the body is cut short, and the signal's reason when that aborts. */
  async *body(): AsyncGenerator<Buffer, void> {
    const cancel = (): void => this.discard();
    this.#signal.addEventListener('abort', cancel, { once: true });
    try {
      this.#signal.throwIfAborted();
      for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
        this.#onHeard();
        yield chunk;
      }
    } catch (error) {
      throw this.#reasonToEnd() ?? (error instanceof ClusterError ? error : lostError(error));
    } finally {
      this.#signal.removeEventListener('abort', cancel);
      this.discard();
    }
    // A connection that is closed under a stream ends it without an error.
    if (!this.#stream.readableEnded) throw this.#reasonToEnd() ?? lostError(undefined);
  }

  /**
   * Gives each part of the body in the moment in which it comes, until there are no more or one was
   * enough. A list that is streamed comes in as many parts as it has objects: what `body` does for
   * each takes longer than to read it. Throws as `body` does, and whatever `onPart` throws.
   */
  async follow(onPart: (part: Buffer) => 'more' | 'enough'): Promise<void> {
    const stream = this.#stream;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = (): void => this.discard();
    const onData = (part: Buffer): void => {
      this.#onHeard();
      try {
        if (onPart(part) === 'more') return;
        resolve();
      } catch (error) {
        reject(error);
      }
      stream.off('data', onData);
    };
    const forget = finished(stream, { writable: false }, (error) => {
      const reason = this.#reasonToEnd();
      // A connection that is closed under a stream ends it without an error, but with a code.
      const isWhole = !error && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR;
      if (reason === undefined && isWhole) resolve();
      else reject(reason ?? lostError(error ?? undefined));
    });
    this.#signal.addEventListener('abort', cancel, { once: true });
    try {
      this.#signal.throwIfAborted();
      stream.on('data', onData);
      await promise;
    } finally {
      this.#signal.removeEventListener('abort', cancel);
      stream.off('data', onData);
      forget();
      this.discard();
    }
  }

  discard(): void {
    this.#stream.close(http2.constants.NGHTTP2_CANCEL);
  }

  #reasonToEnd(): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    return this.#stalledAfterMs === undefined ? undefined : stalledError(this.#stalledAfterMs);
  }
}

function lostError(cause: unknown): ClusterError {
  if (cause instanceof ClusterError) return cause;
  return new ClusterError('CLUSTER_CONNECTION_LOST', 'connection to the API server lost', {
    next: 'retried automatically; if it persists, check the network and the API server',
    ...(cause === undefined ? {} : { cause }),
  });
}

function lateError(deadlineMs: number, cause: unknown): ClusterError {
  return new ClusterError(
    'CLUSTER_TIMEOUT',
    `no response from the API server within ${deadlineMs} ms`,
    {
      next: 'check the load of the API server and the network to it',
      cause,
    },
  );
}

function stalledError(ms: number): ClusterError {
  return new ClusterError('CLUSTER_STALLED', `the API server sent no data for ${ms / 1000} s`, {
    next: 'retried automatically; if it persists, check for a proxy or load balancer that buffers responses',
  });
}
