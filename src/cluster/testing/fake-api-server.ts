import { once } from 'node:events';
import http2 from 'node:http2';
import type net from 'node:net';

/**
 * A server with scripted responses. It replaces the API server only for faults that the real one
 * cannot produce on demand; the real one is in the integration tests.
 */
export class FakeApiServer implements AsyncDisposable {
  readonly requests: Exchange[] = [];
  readonly #server: http2.Http2Server | http2.Http2SecureServer;
  readonly #sockets = new Set<net.Socket>();
  #connectionCount = 0;

  static async start(
    onRequest: (exchange: Exchange, index: number) => void,
    secure?: http2.SecureServerOptions,
  ): Promise<FakeApiServer> {
    const server =
      secure === undefined ? http2.createServer() : http2.createSecureServer({ ...secure });
    const fake = new FakeApiServer(server);
    fake.#listen(onRequest);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return fake;
  }

  constructor(server: http2.Http2Server | http2.Http2SecureServer) {
    this.#server = server;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}`);
  }

  get connectionCount(): number {
    return this.#connectionCount;
  }

  /** As if the machine had lost its power and come back: peers notice when they send. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resetConnections();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #listen(onRequest: (exchange: Exchange, index: number) => void): void {
    this.#server.on('connection', (socket: net.Socket) => {
      this.#connectionCount++;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('sessionError', () => undefined);
    this.#server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      const exchange = new Exchange(stream, headers);
      this.requests.push(exchange);
      onRequest(exchange, this.requests.length - 1);
    });
  }
}

/** One request and its answer. */
export class Exchange {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: http2.IncomingHttpHeaders;
  readonly stream: http2.ServerHttp2Stream;

  constructor(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) {
    const url = new URL(String(headers[':path']), 'http://fake');
    this.path = url.pathname;
    this.query = Object.fromEntries(url.searchParams);
    this.headers = headers;
    this.stream = stream;
  }

  /** Begins a watch that stays open. */
  watch(...events: readonly unknown[]): this {
    this.stream.respond({ ':status': 200, 'content-type': 'application/json' });
    for (const event of events) this.send(event);
    return this;
  }

  send(event: unknown): void {
    this.write(`${JSON.stringify(event)}\n`);
  }

  write(text: string | Buffer): void {
    this.stream.write(text);
  }

  end(): void {
    this.stream.end();
  }

  answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.stream.respond({ ':status': status, 'content-type': 'application/json', ...headers });
    this.stream.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** A rejection in the format of the API server. */
  reject(code: number, headers: Readonly<Record<string, string>> = {}): void {
    this.answer(code, statusObject(code), headers);
  }
}

export function statusObject(code: number): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `says ${code}`,
    reason: code === 410 ? 'Expired' : 'Other',
    code,
  };
}

export function serviceJson(
  name: string,
  resourceVersion: number,
  clusterIP = '10.96.0.1',
): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', resourceVersion: String(resourceVersion) },
    spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80 }] },
  };
}

export function added(name: string, resourceVersion: number, clusterIP?: string): object {
  return { type: 'ADDED', object: serviceJson(name, resourceVersion, clusterIP) };
}

export function deleted(name: string, resourceVersion: number): object {
  return { type: 'DELETED', object: serviceJson(name, resourceVersion) };
}

export function bookmark(resourceVersion: number): object {
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(resourceVersion) } } };
}

export function initialEnd(resourceVersion: number): object {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const metadata = { resourceVersion: String(resourceVersion), annotations };
  return { type: 'BOOKMARK', object: { metadata } };
}
