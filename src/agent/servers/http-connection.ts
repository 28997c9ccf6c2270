import { STATUS_CODES } from 'node:http';
import type net from 'node:net';
import { type Admittable, type ConnectionBudget, sourceKey } from './connection-budget.ts';
import { MAX_HEAD_BYTES, type RequestHead, readHead } from './http-head.ts';
import type { Handler, Reply } from './reply.ts';
import { handlerError, type ServerProblemListener } from './server-error.ts';

export interface ConnectionOptions {
  readonly handler: Handler;
  readonly budget: ConnectionBudget;
  readonly onProblem: ServerProblemListener;
}

/**
 * Deadlines of a connection, each from the end of the previous step. A source can be evicted
 * earlier, so idle connections between probes may be kept for long.
 */
const PHASE_MS = { firstHead: 5_000, answer: 10_000, nextHead: 120_000, farewell: 1_000 };

const BAD_REQUEST = 400;
const HEAD_TOO_LARGE = 431;
const INTERNAL_ERROR = 500;
const NOTHING = Buffer.alloc(0);

/**
 * One client connection. Responds to at most one request per event loop iteration, reads no further
 * while responding, and buffers at most one request head: many connections with many requests each
 * delay the rest of the process by one response per connection.
 */
export class HttpConnection implements Admittable {
  readonly source: string;
  readonly #socket: net.Socket;
  readonly #isTcp: boolean;
  readonly #options: ConnectionOptions;
  #unhandled: Buffer = NOTHING;
  #isAnswering = false;
  #hasClientEnded = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(socket: net.Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    // Undefined for a Unix socket, and for a client that has already left.
    this.#isTcp = socket.localPort !== undefined;
    this.source = sourceKey(socket.remoteAddress);
  }

  serve(): void {
    const socket = this.#socket;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('end', () => this.#onEnd());
    // A reset by the client is not an error.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#onClose());
    this.#enter('firstHead');
    this.#options.budget.admit(this);
  }

  evict(): void {
    // close() would leave unread data in the kernel for minutes, without a descriptor. A Unix
    // socket leaves nothing, and Node throws when it is reset.
    if (this.#isTcp) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#socket.writableEnded) return;
    this.#unhandled =
      this.#unhandled.length === 0 ? chunk : Buffer.concat([this.#unhandled, chunk]);
    if (!this.#isAnswering) this.#handleNext();
  }

  #onEnd(): void {
    this.#hasClientEnded = true;
    if (!this.#isAnswering) this.#socket.end();
  }

  #onClose(): void {
    clearTimeout(this.#deadline);
    this.#options.budget.leave(this);
  }

  #enter(phase: keyof typeof PHASE_MS): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.evict(), PHASE_MS[phase]);
  }

  #handleNext(): void {
    if (this.#socket.destroyed) return;
    const head = readHead(this.#unhandled);
    if (head === 'incomplete') {
      if (this.#hasClientEnded) this.#socket.end();
      else this.#socket.resume();
      return;
    }
    this.#isAnswering = true;
    this.#socket.pause();
    this.#enter('answer');
    this.#options.budget.touch(this);
    if (head === 'malformed') this.#reject(BAD_REQUEST);
    else if (head === 'too large') this.#reject(HEAD_TOO_LARGE);
    else this.#answer(head);
  }

  #answer(head: RequestHead): void {
    // A copy, so that its chunk can be freed.
    this.#unhandled = Buffer.from(this.#unhandled.subarray(head.lengthBytes));
    const isFlooding = this.#unhandled.length > MAX_HEAD_BYTES;
    const isLast = !head.keepsAlive || head.hasBody || isFlooding;
    this.#replyTo(head.path)
      .then((reply) => this.#send(reply, { isLast, isHead: head.isHead, isOld: head.isOld }))
      .catch((cause: unknown) => this.#options.onProblem(handlerError(cause)));
  }

  async #replyTo(path: string): Promise<Reply> {
    try {
      return await this.#options.handler(path);
    } catch (error) {
      this.#options.onProblem(handlerError(error));
      return plain(INTERNAL_ERROR, 'internal error\n');
    }
  }

  #reject(status: number): void {
    this.#send(plain(status, `${status} ${STATUS_CODES[status]}\n`), {
      isLast: true,
      isHead: false,
      isOld: false,
    });
  }

  #send(reply: Reply, how: Sending): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const onWritten = (error?: Error | null): void => {
      if (!error) this.#onSent(how.isLast);
    };
    const head = responseHead(reply, how);
    if (how.isHead) socket.write(head, onWritten);
    else if (typeof reply.body === 'string') socket.write(`${head}${reply.body}`, onWritten);
    else {
      socket.cork();
      socket.write(head);
      socket.write(reply.body, onWritten);
      socket.uncork();
    }
    this.#options.budget.holdUnread(this, socket.writableLength);
  }

  #onSent(isLast: boolean): void {
    this.#options.budget.holdUnread(this, 0);
    this.#options.budget.touch(this);
    if (isLast) this.#sayFarewell();
    else {
      this.#enter('nextHead');
      // Deferred: pipelined requests must not all be handled in one iteration.
      setImmediate(() => {
        this.#isAnswering = false;
        this.#handleNext();
      });
    }
  }

  /** Reads until the client closes: closing earlier would reset data that it has not read. */
  #sayFarewell(): void {
    this.#unhandled = NOTHING;
    this.#enter('farewell');
    this.#socket.end();
    this.#socket.resume();
  }
}

interface Sending {
  readonly isLast: boolean;
  readonly isHead: boolean;
  /** For a client of HTTP/1.0. */
  readonly isOld: boolean;
}

function plain(status: number, body: string): Reply {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

function responseHead({ status, headers, body }: Reply, { isLast, isOld }: Sending): string {
  const connection = isLast ? ['Connection: close'] : isOld ? ['Connection: keep-alive'] : [];
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date().toUTCString()}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...connection,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
