import { once } from 'node:events';
import http2 from 'node:http2';
import type net from 'node:net';
import tls from 'node:tls';
import type { ClusterAccess } from './access.ts';
import { Answer } from './api-answer.ts';
import { type Dial, dialDirectly, openSocket, type SocketOptions } from './api-socket.ts';
import { ClusterError } from './cluster-error.ts';
import { DEFAULT_KEEP_ALIVE, KeepAlive, type KeepAliveOptions } from './keep-alive.ts';
import type { RequestListener, RequestMethod } from './request-seen.ts';
import type { Secret } from './secret.ts';
import { dialThrough } from './tunnel.ts';
import { PREFERRED_MEDIA_TYPES } from './wire/choice.ts';

export interface ConnectionOptions {
  readonly access: ClusterAccess;
  readonly userAgent?: string;
  /** Media types for the Accept header, in order of preference. */
  readonly accept?: string;
  readonly dial?: Dial;
  readonly keepAlive?: KeepAliveOptions;
  readonly connectDeadlineMs?: number;
  /** Deadline for the start of a response. */
  readonly answerDeadlineMs?: number;
  /** Called when a new connection got its first response; it may be another server than before. */
  readonly onOpened?: () => void;
  /** Called for each request when its response starts or it fails. */
  readonly onRequest?: RequestListener;
}

const CONNECT_DEADLINE_MS = 10_000;
const ANSWER_DEADLINE_MS = 30_000;
const HTTP_UNAUTHORIZED = 401;
const JSON_MEDIA_TYPE = 'application/json';

interface LiveSession {
  readonly http2: http2.ClientHttp2Session;
  readonly keepAlive: KeepAlive;
}

/** The only connection to the API server: opened on first use, and again after it was lost. */
export class Connection {
  readonly #options: ConnectionOptions;
  #session: LiveSession | undefined;
  #opening: Promise<LiveSession> | undefined;
  readonly #closing = new AbortController();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** When the server last sent anything, on the monotonic clock; 0: never. */
  get lastHeardAtMs(): number {
    return this.#session?.keepAlive.lastHeardAtMs ?? 0;
  }

  /** Resolves with any status, when the response starts. Throws ClusterError. */
  async get(path: string, signal: AbortSignal): Promise<Answer> {
    return await this.#ask({ method: 'GET', path }, signal);
  }

  /** As `get`, for pages that exist only as JSON. */
  async getJson(path: string, signal: AbortSignal): Promise<Answer> {
    return await this.#ask({ method: 'GET', path, accept: JSON_MEDIA_TYPE }, signal);
  }

  /** As `get`, with an object in JSON to be created. */
  async post(path: string, body: object, signal: AbortSignal): Promise<Answer> {
    return await this.#ask({ method: 'POST', path, body: JSON.stringify(body) }, signal);
  }

  /** Any request; the body is sent as it is. Resolves and throws as `get`. */
  async send(request: PlainRequest, signal: AbortSignal): Promise<Answer> {
    return await this.#ask({ ...request, accept: JSON_MEDIA_TYPE }, signal);
  }

  async #ask(question: Question, signal: AbortSignal): Promise<Answer> {
    const { answer, token, session } = await this.#counted(question, signal);
    if (answer.status !== HTTP_UNAUTHORIZED) return answer;
    answer.discard();
    this.#options.access.rejected(token);
    // New credentials may come with a new certificate, which takes a new connection.
    this.#retire(session);
    return (await this.#counted({ ...question, retryOf: answer.status }, signal)).answer;
  }

  close(): void {
    this.#closing.abort();
    this.#session?.http2.destroy();
    this.#session = undefined;
  }

  async #counted(question: Question, signal: AbortSignal): Promise<Sent> {
    const { access, onRequest } = this.#options;
    const { method, body = '', retryOf } = question;
    const beganAtMs = performance.now();
    const tell = (answer: Answer | undefined): void =>
      onRequest?.({
        method,
        host: access.server.host,
        status: answer?.status,
        durationMs: performance.now() - beganAtMs,
        requestBytes: Buffer.byteLength(body),
        responseBytes: answer?.contentBytes,
        ...(retryOf === undefined ? {} : { retryOf }),
      });
    try {
      const sent = await this.#send(question, signal);
      tell(sent.answer);
      return sent;
    } catch (error) {
      // An aborted request is not a failure.
      if (!signal.aborted) tell(undefined);
      throw error;
    }
  }

  async #send(question: Question, signal: AbortSignal): Promise<Sent> {
    const { method, path, body, accept, contentType = JSON_MEDIA_TYPE } = question;
    const { access, userAgent } = this.#options;
    const token = await access.token();
    const session = await this.#open();
    signal.throwIfAborted();
    const prefix = access.server.pathname.replace(/\/$/, '');
    const headers = {
      ':method': method,
      ':path': `${prefix}${path}`,
      accept: accept ?? this.#options.accept ?? PREFERRED_MEDIA_TYPES,
      'user-agent': userAgent ?? 'fairlead',
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
      [http2.sensitiveHeaders]: ['authorization'],
    };
    const stream = request(session.http2, headers, body);
    const answer = await Answer.to(stream, {
      signal,
      deadlineMs: this.#options.answerDeadlineMs ?? ANSWER_DEADLINE_MS,
      onHeard: () => session.keepAlive.heard(),
    });
    session.keepAlive.heard();
    return { answer, token, session };
  }

  async #open(): Promise<LiveSession> {
    if (this.#closing.signal.aborted) throw closedError();
    const session = this.#session;
    if (session !== undefined && !session.http2.closed && !session.http2.destroyed) return session;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return await this.#opening;
  }

  async #connect(): Promise<LiveSession> {
    const { access, keepAlive, connectDeadlineMs } = this.#options;
    const dial = this.#options.dial ?? dialDirectly;
    const opened = await openSession({
      server: access.server,
      tls: await access.tls(),
      dial: access.proxyUrl === undefined ? dial : dialThrough(access.proxyUrl, dial),
      deadlineMs: connectDeadlineMs ?? CONNECT_DEADLINE_MS,
      signal: this.#closing.signal,
    });
    // Each stream reports the failure of its session itself.
    opened.on('error', () => undefined);
    if (this.#closing.signal.aborted) {
      opened.destroy();
      throw closedError();
    }
    const session = {
      http2: opened,
      keepAlive: new KeepAlive(opened, keepAlive ?? DEFAULT_KEEP_ALIVE),
    };
    session.keepAlive.start();
    this.#session = session;
    this.#options.onOpened?.();
    return session;
  }

  #retire(session: LiveSession): void {
    if (this.#session === session) this.#session = undefined;
    session.http2.close();
  }
}

/** A request for JSON. */
export interface PlainRequest {
  readonly method: RequestMethod;
  readonly path: string;
  readonly body?: string;
  /** Of the body; default: JSON. */
  readonly contentType?: string;
}

interface Question extends PlainRequest {
  readonly accept?: string;
  /** The status of the first attempt, if this is a retry. */
  readonly retryOf?: number;
}

interface Sent {
  readonly answer: Answer;
  readonly token: Secret | undefined;
  readonly session: LiveSession;
}

function request(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body: string | undefined,
): http2.ClientHttp2Stream {
  try {
    const stream = session.request(headers, { endStream: body === undefined });
    return body === undefined ? stream : stream.end(body);
  } catch (error) {
    throw new ClusterError('CLUSTER_CONNECTION_LOST', 'cannot send the request to the API server', {
      next: 'retried automatically; if it persists, check the token for characters that HTTP headers do not allow',
      cause: error,
    });
  }
}

function closedError(): ClusterError {
  return new ClusterError(
    'CLUSTER_CONNECTION_LOST',
    'the connection was closed because Fairlead is stopping',
    {
      next: 'no action needed',
    },
  );
}

/** Flow control window: enough for a distant server, small enough for backpressure. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const SESSION_WINDOW_BYTES = 8 * 1024 * 1024;

/** Opens an HTTP/2 session, and waits for the settings of the server. */
async function openSession(options: SocketOptions): Promise<http2.ClientHttp2Session> {
  return await openSocket(options, 'h2', (socket, signal) =>
    startHttp2(socket, options.server, signal),
  );
}

async function startHttp2(
  socket: net.Socket,
  server: URL,
  signal: AbortSignal,
): Promise<http2.ClientHttp2Session> {
  if (socket instanceof tls.TLSSocket && socket.alpnProtocol !== 'h2') {
    throw new ClusterError('CLUSTER_NO_HTTP2', `${server.host} does not offer HTTP/2`, {
      next: 'check for a load balancer or proxy in front of the API server: it must pass HTTP/2 (ALPN h2) through',
    });
  }
  const session = http2.connect(server.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
  });
  // TLS errors after the handshake, such as a missing client certificate under TLS 1.3, are emitted
  // on the socket and not on the session, which would wait for ever.
  const failed = new Promise<never>((_, reject) => socket.once('error', reject));
  failed.catch((error) => session.destroy(error));
  try {
    await Promise.race([once(session, 'remoteSettings', { signal }), failed]);
  } catch (error) {
    session.on('error', () => undefined);
    session.destroy();
    throw error;
  }
  session.setLocalWindowSize(SESSION_WINDOW_BYTES);
  return session;
}
