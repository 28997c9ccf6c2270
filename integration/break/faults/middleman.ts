import { once } from 'node:events';
import http2 from 'node:http2';
import type net from 'node:net';

/** What happens to a line of an answer on its way: half of it arrives, or more than it. */
export type LineFate = 'pass' | 'halve' | 'precede' | 'cut';

const NO_JSON = 'upstream connect error or disconnect/reset before headers\n';

export interface Rejection {
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

export interface Misbehaviour {
  /** Answers so, instead of asking the server. */
  readonly reject?: (path: string) => Rejection | undefined;
  readonly line?: (line: string) => LineFate;
}

/**
 * A proxy between the source and the real API server that misbehaves on request: a real API server
 * cannot be made to answer 429 or 500, to send half a line or a malformed line, when a test needs it.
 */
export class Middleman implements AsyncDisposable {
  misbehaviour: Misbehaviour = {};
  readonly #connect: () => Promise<http2.ClientHttp2Session>;
  readonly #server = http2.createServer();
  readonly #sockets = new Set<net.Socket>();
  #upstream: Promise<http2.ClientHttp2Session> | undefined;

  /** `connect` opens a session with the real server. */
  constructor(connect: () => Promise<http2.ClientHttp2Session>) {
    this.#connect = connect;
  }

  async start(): Promise<void> {
    this.#server.on('connection', (socket: net.Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('sessionError', () => undefined);
    this.#server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      this.#pass(stream, headers).catch(() => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }

  /** Ends every connection at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    (await this.#upstream?.catch(() => undefined))?.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  async #pass(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): Promise<void> {
    const path = String(headers[':path']);
    const rejection = this.misbehaviour.reject?.(path);
    if (rejection !== undefined) {
      const { status, retryAfterSeconds } = rejection;
      const wait =
        retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
      stream.respond({ ':status': status, ...wait });
      stream.end(JSON.stringify({ kind: 'Status', code: status, message: 'told to say so' }));
      return;
    }
    const session = await this.#session();
    // It can only damage lines, so it lets the server answer in lines, as some gateways do.
    const answer = session.request({
      ':path': path,
      authorization: headers.authorization,
      accept: 'application/json',
    });
    answer.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
    stream.once('close', () => answer.close(http2.constants.NGHTTP2_CANCEL));
    const [{ ':status': status }] = (await once(answer, 'response')) as [http2.IncomingHttpHeaders];
    stream.respond({ ':status': Number(status) });
    await this.#passLines(answer, stream);
    stream.end();
  }

  /** Passes whole lines only, so that there is always a place between two of them. */
  async #passLines(from: http2.ClientHttp2Stream, to: http2.ServerHttp2Stream): Promise<void> {
    let rest = '';
    for await (const chunk of from.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const fate = this.misbehaviour.line?.(line) ?? 'pass';
        const half = line.slice(0, line.length / 2);
        if (fate === 'cut') return this.#writeAndCut(to, half);
        if (to.destroyed) return;
        if (fate === 'precede') to.write(NO_JSON);
        to.write(`${fate === 'halve' ? half : line}\n`);
      }
    }
    if (!to.destroyed) to.write(rest);
  }

  #writeAndCut(to: http2.ServerHttp2Stream, part: string): void {
    to.write(part, () => {
      for (const socket of this.#sockets) socket.resetAndDestroy();
    });
  }

  async #session(): Promise<http2.ClientHttp2Session> {
    const session = await this.#upstream?.catch(() => undefined);
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    this.#upstream = this.#connect();
    return await this.#upstream;
  }
}
