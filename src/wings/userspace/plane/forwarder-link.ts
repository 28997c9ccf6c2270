import { createConnection, type Socket } from 'node:net';
import { forwarderError } from './forwarder-error.ts';
import type { Answers, Request } from './forwarder-protocol.ts';
import { FrameReader, frame, type Reply } from './framing.ts';

/** Questions without an answer: a forwarder that hangs must not fill our memory. */
const MOST_WAITING = 64;

interface Waiting {
  readonly what: Request['do'];
  readonly answered: PromiseWithResolvers<unknown>;
  timer: NodeJS.Timeout | undefined;
}

type RequestOf<Asked extends Request['do']> = Extract<Request, { do: Asked }>;

/** One connection to the control socket of a forwarder. Answers come in the order of the questions. */
export class ForwarderLink {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #end: Error | undefined;

  /** Rejects when no process listens there, or none accepts before the deadline. */
  static async open(path: string, deadlineMs: number): Promise<ForwarderLink> {
    const socket = createConnection(path);
    const opened = Promise.withResolvers<void>();
    const late = setTimeout(() => opened.reject(silent('accept a connection')), deadlineMs);
    socket.once('connect', () => opened.resolve());
    socket.once('error', (error) => opened.reject(error));
    try {
      await opened.promise;
      return new ForwarderLink(socket);
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const reply of reader.push(chunk)) this.#take(reply as Reply);
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.removeAllListeners('error');
    socket.on('error', (error) => {
      this.#end ??= error;
    });
    socket.on('close', () => this.#fail());
  }

  /** Resolves when the forwarder ended, or closed the connection. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  async ask<Asked extends Request['do']>(
    request: RequestOf<Asked>,
    deadlineMs: number,
  ): Promise<Answers[Asked]> {
    const what = request.do as Asked;
    if (!this.isOpen) throw ended(this.#end);
    if (this.#waiting.length >= MOST_WAITING) throw silent(what);
    const answered = Promise.withResolvers<unknown>();
    const waiting: Waiting = { what, answered, timer: undefined };
    // It keeps its place in the queue: a late answer must not be taken for the next one.
    waiting.timer = setTimeout(() => answered.reject(silent(what)), deadlineMs);
    this.#waiting.push(waiting);
    for (const part of frame(JSON.stringify(request))) this.#socket.write(part);
    return (await answered.promise) as Answers[Asked];
  }

  /** Does not keep the process alive any more. */
  unref(): void {
    this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) throw new Error('the forwarder answered without a question');
    clearTimeout(waiting.timer);
    if ('ok' in reply) waiting.answered.resolve(reply.ok);
    else waiting.answered.reject(failed(waiting.what, reply.error));
  }

  #fail(): void {
    for (const { timer, answered } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      answered.reject(ended(this.#end));
    }
    this.#ended.resolve();
  }
}

function silent(what: string): Error {
  return forwarderError('FORWARDER_SILENT', `the forwarder did not answer in time (${what})`);
}

function ended(cause: Error | undefined): Error {
  return forwarderError('FORWARDER_ENDED', 'the forwarder ended', { cause });
}

function failed(what: string, reason: string): Error {
  return forwarderError('FORWARDER_FAILED', `the forwarder failed (${what}): ${reason}`);
}
