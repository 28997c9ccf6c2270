import http2 from 'node:http2';
import tls from 'node:tls';
import { LabError } from '../host/errors.ts';
import { dialTcp } from '../host/sockets.ts';
import type { KubeObject } from './objects.ts';

export interface ApiClientOptions {
  /** The namespace to connect from: the host has no way into the lab. */
  readonly namespacePath: string;
  readonly address: string;
  readonly port: number;
  readonly token: string;
  /** PEM of what signs the server; read once the server has written it. */
  readonly certificateAuthority: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly text: string;
}

export type PatchKind = 'merge' | 'strategic-merge';

const REQUEST_DEADLINE_MS = 20_000;
const HTTP_NOT_FOUND = 404;

/** A small client of the lab's API server: one HTTP/2 session, opened when first needed. */
export class ApiClient implements Disposable {
  readonly #options: ApiClientOptions;
  #session: http2.ClientHttp2Session | undefined;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  async get<T extends KubeObject>(path: string): Promise<T> {
    return await this.#json<T>({ method: 'GET', path });
  }

  async find<T extends KubeObject>(path: string): Promise<T | undefined> {
    const response = await this.raw({ method: 'GET', path });
    if (response.status === HTTP_NOT_FOUND) return undefined;
    return parseOk<T>({ method: 'GET', path }, response);
  }

  async list<T>(path: string): Promise<{ items: T[]; resourceVersion: string }> {
    const list = await this.#json<KubeObject & { items?: T[] }>({ method: 'GET', path });
    return { items: list.items ?? [], resourceVersion: list.metadata.resourceVersion ?? '' };
  }

  async create<T extends KubeObject>(path: string, body: object): Promise<T> {
    return await this.#json<T>({ method: 'POST', path, body: JSON.stringify(body) });
  }

  async replace<T extends KubeObject>(path: string, body: object): Promise<T> {
    return await this.#json<T>({ method: 'PUT', path, body: JSON.stringify(body) });
  }

  async patch(path: string, body: object, kind: PatchKind = 'merge'): Promise<void> {
    const contentType = `application/${kind}-patch+json`;
    await this.#json({ method: 'PATCH', path, body: JSON.stringify(body), contentType });
  }

  async delete(path: string, options: object = {}): Promise<void> {
    await this.#json({ method: 'DELETE', path, body: JSON.stringify(options) });
  }

  /** Calls back for each event until the server ends the watch or the signal aborts it. */
  async watch(
    path: string,
    onEvent: (event: WatchEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const stream = this.#open({ method: 'GET', path });
    const abort = (): void => stream.close(http2.constants.NGHTTP2_CANCEL);
    signal.addEventListener('abort', abort, { once: true });
    try {
      let rest = '';
      for await (const chunk of stream.setEncoding('utf8')) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) onEvent(JSON.parse(line) as WatchEvent);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async raw(request: ApiRequest): Promise<ApiResponse> {
    const stream = this.#open(request);
    stream.setTimeout(REQUEST_DEADLINE_MS, () => stream.close(http2.constants.NGHTTP2_CANCEL));
    // Read from the start: a stream that closes before it is read counts as cut off.
    const response = new Promise<ApiResponse>((resolve, reject) => {
      let status = 0;
      let text = '';
      stream.setEncoding('utf8');
      stream.once('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.on('data', (more: string) => {
        text += more;
      });
      stream.once('end', () => {
        // A connection that is closed under a stream ends it without an error.
        if (status === 0 || stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) return;
        resolve({ status, text });
      });
      stream.once('error', reject);
      stream.once('close', () => reject(new Error(`stream closed, code ${stream.rstCode}`)));
    });
    try {
      return await response;
    } catch (error) {
      throw new LabError(
        'LAB_API_SILENT',
        `${request.method} ${request.path} failed without a response: ${error}`,
        {
          next: 'check whether the API server is running: `npm run lab -- status`',
          cause: error,
        },
      );
    }
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }

  async #json<T extends KubeObject>(request: ApiRequest): Promise<T> {
    return parseOk<T>(request, await this.raw(request));
  }

  #open(request: ApiRequest): http2.ClientHttp2Stream {
    const headers = {
      ':method': request.method,
      ':path': request.path,
      authorization: `Bearer ${this.#options.token}`,
      accept: 'application/json',
      'content-type': request.contentType ?? 'application/json',
    };
    // Node would close a DELETE at once, as if it never had a body.
    const stream = this.#connect().request(headers, { endStream: request.body === undefined });
    if (request.body !== undefined) stream.end(request.body);
    return stream;
  }

  #connect(): http2.ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const { namespacePath, address, port, certificateAuthority } = this.#options;
    const session = http2.connect(`https://${address}:${port}`, {
      createConnection: () =>
        tls.connect({
          socket: dialTcp({ namespace: namespacePath }, { address, port }),
          ca: certificateAuthority,
          servername: 'kubernetes.default.svc',
          ALPNProtocols: ['h2'],
        }),
    });
    // Each stream reports the failure of its session itself.
    session.on('error', () => undefined);
    this.#session = session;
    return session;
  }
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubeObject;
}

function parseOk<T>(request: ApiRequest, response: ApiResponse): T {
  if (response.status < 300) return JSON.parse(response.text) as T;
  throw new LabError(
    'LAB_API',
    `${request.method} ${request.path}: ${response.status} ${messageOf(response.text)}`,
    { next: 'correct the object or the path: the API server rejected the request' },
  );
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}
