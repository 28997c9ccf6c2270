import { once } from 'node:events';
import http2 from 'node:http2';
import { finished } from 'node:stream';
import { ClusterError } from './cluster-error.ts';
import { encodingOf } from './wire/choice.ts';
import type { Encoding } from './wire/encoding.ts';

export interface AnswerOptions {
  readonly signal: AbortSignal;
  /** Deadline for the start of the response. */
  readonly deadlineMs: number;
  /** Called for each chunk of the body; it shows that the server is alive. */
  readonly onHeard: () => void;
}

const SECONDS = /^\d{1,6}$/;

/** A response of the server: the status immediately, the body as it arrives. */
export class Answer {
  readonly status: number;
  /** Encoding of the body. */
  readonly encoding: Encoding;
  /** The Retry-After header, if any. */
  readonly retryAfterMs: number | undefined;
  /** The Content-Length header, if any. */
  readonly contentBytes: number | undefined;
  readonly #stream: http2.ClientHttp2Stream;
  readonly #signal: AbortSignal;
  readonly #onHeard: () => void;
  #stalledAfterMs: number | undefined;

  static async to(stream: http2.ClientHttp2Stream, options: AnswerOptions): Promise<Answer> {
    const { signal, deadlineMs } = options;
    // Errors are reported to the caller that waits for the response or reads the body; without a
    // listener in between Node would throw.
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
      // The promise that lost the race may reject later, when nothing awaits it.
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

  /** From now on a pause this long ends the body with CLUSTER_STALLED. */
  limitSilence(ms: number): void {
    this.#stream.setTimeout(ms, () => {
      this.#stalledAfterMs = ms;
      this.discard();
    });
  }

  /**
   * Throws ClusterError when the body is truncated, and the reason of the signal when that aborts.
   */
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
    // Closing the connection ends a stream without an error.
    if (!this.#stream.readableEnded) throw this.#reasonToEnd() ?? lostError(undefined);
  }

  /**
   * Passes each chunk of the body to `onPart` as it arrives, until the end or until `onPart` has
   * enough. A streamed list has as many chunks as objects, and the async iterator of `body` would
   * cost more per chunk than reading it. Throws as `body` does, and what `onPart` throws.
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
      // Closing the connection ends a stream without an error, but with a code.
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
