import type http2 from 'node:http2';
import { Readable } from 'node:stream';
import { Answer } from '../../../src/cluster/api-answer.ts';
import type { Getter } from '../../../src/cluster/list.ts';
import type { JsonGetter } from '../../../src/cluster/server-version.ts';

/** What a server answers: bytes, and then the end of the stream or silence. */
export interface Script {
  readonly chunks: readonly Buffer[];
  readonly ends: boolean;
  /** Of the chunks, as `Content-Type`. */
  readonly mediaType: string;
}

const DEADLINE_MS = 60_000;

/** A server without a network: the real reader of answers over a stream that is made up. */
export class ScriptedServer implements Getter, JsonGetter {
  readonly #answerTo: (query: URLSearchParams, index: number) => Script;
  #requestCount = 0;

  constructor(answerTo: (query: URLSearchParams, index: number) => Script) {
    this.#answerTo = answerTo;
  }

  get(path: string, signal: AbortSignal): Promise<Answer> {
    const query = new URL(path, 'http://fuzz').searchParams;
    const script = this.#answerTo(query, this.#requestCount++);
    const stream = new ScriptedStream(script);
    const options = { signal, deadlineMs: DEADLINE_MS, onHeard: () => undefined };
    const headers = { ':status': '200', 'content-type': script.mediaType };
    // The part of an HTTP/2 stream that the reader uses.
    const asHttp2 = stream as unknown as http2.ClientHttp2Stream;
    return Promise.resolve(new Answer(asHttp2, headers, options));
  }

  getJson(path: string, signal: AbortSignal): Promise<Answer> {
    return this.get(path, signal);
  }
}

class ScriptedStream extends Readable {
  readonly #chunks: Iterator<Buffer>;
  readonly #ends: boolean;

  constructor({ chunks, ends }: Script) {
    // Of objects, so that chunks arrive as they were cut and are not joined on the way.
    super({ objectMode: true, highWaterMark: 1 });
    this.#chunks = chunks.filter(({ length }) => length > 0).values();
    this.#ends = ends;
  }

  override _read(): void {
    const next = this.#chunks.next();
    if (next.done !== true) this.push(next.value);
    else if (this.#ends) this.push(null);
  }

  setTimeout(): this {
    return this;
  }

  close(): void {
    this.destroy();
  }
}
