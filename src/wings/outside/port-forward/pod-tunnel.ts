import type net from 'node:net';
import { Duplex } from 'node:stream';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import { dataHead, pingAnswer, reset, SpdyReader, synStream } from './spdy-frames.ts';
import { closeFrame, messageHead, pong, WebSocketReader } from './websocket-frames.ts';

/** Of one data frame: the server reads a frame as a whole. */
const MOST_DATA_BYTES = 32 * 1024;
/** The server has ended the data; it ends its error stream right after. */
const ERROR_STREAM_DEADLINE_MS = 5_000;
const MOST_ERROR_TEXT_BYTES = 4096;
const REPLY_DEADLINE_MS = 10_000;

/** One connection to a port of the pod: a stream for data, and one for an error of the far end. */
interface Carried {
  readonly dataId: number;
  readonly errorId: number;
  readonly stream: Duplex;
  readonly replied: PromiseWithResolvers<void>;
  errorText: string;
  isDataEnded: boolean;
  isErrorEnded: boolean;
  isSentEnded: boolean;
}

export interface TunnelListener {
  /** It has carried a connection to its end, and can carry the next one. */
  onIdle(): void;
  onClosed(): void;
}

/**
 * A WebSocket to one pod, which carries one connection at a time. The server has no flow control: a
 * second connection on the same WebSocket would wait for one that is not read. One alone is slowed
 * down by TCP, and needs no buffers here.
 */
export class PodTunnel {
  readonly #socket: net.Socket;
  readonly #name: string;
  readonly #listener: TunnelListener;
  #nextId = 1;
  #carried: Carried | undefined;
  #isClosed = false;

  constructor(socket: net.Socket, name: string, listener: TunnelListener) {
    this.#socket = socket;
    this.#name = name;
    this.#listener = listener;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Reads from here on, beginning with bytes that came with the answer to the handshake. */
  start(first: Buffer): void {
    const spdy = new SpdyReader({
      onReply: (id) => this.#onReply(id),
      onData: (id, bytes) => this.#onData(id, bytes),
      onEnd: (id) => this.#onEnd(id),
      onReset: (id) => this.#onReset(id),
      onPing: (body) => this.#send([pingAnswer(body)]),
      onGoAway: () => this.close(),
    });
    const frames = new WebSocketReader({
      onBytes: (bytes) => spdy.push(bytes),
      onPing: (payload) => this.#socket.write(pong(payload)),
      onClose: () => this.close(),
    });
    const read = (bytes: Buffer): void => {
      try {
        frames.push(bytes);
      } catch (error) {
        this.#fail(error);
      }
    };
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('end', () => this.#fail(undefined));
    this.#socket.on('close', () => this.#fail(undefined));
    read(first);
    this.#socket.on('data', read);
  }

  /**
   * A connection to a port of the pod, as soon as the far end takes data. That nobody listens there
   * is known only later, and destroys the stream with POD_UNREACHABLE.
   */
  async connect(port: number): Promise<Duplex> {
    if (this.#isClosed) throw this.#lost(undefined);
    const carried = this.#newConnection();
    this.#carried = carried;
    const { errorId, dataId } = carried;
    const shared = { port: String(port), requestid: String(dataId) };
    const isFirst = errorId === 1;
    const error = { id: errorId, headers: { streamtype: 'error', ...shared }, isFinished: true };
    const data = { id: dataId, headers: { streamtype: 'data', ...shared }, isFinished: false };
    // Both at once: one round trip.
    this.#send([synStream({ ...error, isFirst }), synStream({ ...data, isFirst: false })]);
    const late = setTimeout(() => this.#fail(this.#silent()), REPLY_DEADLINE_MS);
    await carried.replied.promise.finally(() => clearTimeout(late));
    if (carried.stream.errored) throw carried.stream.errored;
    return carried.stream;
  }

  close(): void {
    this.#fail(undefined);
  }

  #newConnection(): Carried {
    const errorId = this.#nextId;
    const dataId = errorId + 2;
    this.#nextId += 4;
    const replied = Promise.withResolvers<void>();
    // Whoever waits hears of it; without one it is not an error of the process.
    replied.promise.catch(() => undefined);
    const stream = new Duplex({
      allowHalfOpen: true,
      read: () => {
        if (this.#carriedAs(dataId)) this.#socket.resume();
      },
      write: (chunk: Buffer, _, done) => this.#sendData(dataId, chunk, done),
      final: (done) => this.#sendEnd(dataId, done),
      destroy: (error, done) => {
        this.#onDestroyed(dataId);
        done(error);
      },
    });
    // It may fail before anybody has it: connect() throws that error.
    stream.on('error', () => undefined);
    const ended = { isDataEnded: false, isErrorEnded: false, isSentEnded: false };
    return { dataId, errorId, stream, replied, errorText: '', ...ended };
  }

  #sendData(id: number, chunk: Buffer, done: (error?: Error | null) => void): void {
    for (let at = 0; at < chunk.length; at += MOST_DATA_BYTES) {
      const part = chunk.subarray(at, at + MOST_DATA_BYTES);
      const isLast = at + MOST_DATA_BYTES >= chunk.length;
      this.#send([dataHead(id, part.length, false), part], isLast ? done : undefined);
    }
    if (chunk.length === 0) done();
  }

  #sendEnd(id: number, done: (error?: Error | null) => void): void {
    const carried = this.#carriedAs(id);
    if (carried === undefined) {
      done();
      return;
    }
    carried.isSentEnded = true;
    this.#send([dataHead(id, 0, true)], done);
    this.#endIfOver(carried);
  }

  /** One message. */
  #send(parts: readonly Buffer[], done?: (error?: Error | null) => void): void {
    let length = 0;
    for (const part of parts) length += part.length;
    this.#socket.cork();
    this.#socket.write(messageHead(length));
    for (const [index, part] of parts.entries()) {
      if (done && index === parts.length - 1) this.#socket.write(part, done);
      else this.#socket.write(part);
    }
    this.#socket.uncork();
  }

  #onReply(id: number): void {
    this.#carriedAs(id)?.replied.resolve();
  }

  #onData(id: number, bytes: Buffer): void {
    const carried = this.#carried;
    if (id === carried?.dataId) {
      if (!carried.stream.push(bytes)) this.#socket.pause();
    } else if (id === carried?.errorId && carried.errorText.length < MOST_ERROR_TEXT_BYTES) {
      carried.errorText += bytes.toString('utf8');
    }
  }

  #onEnd(id: number): void {
    const carried = this.#carried;
    if (id === carried?.dataId) {
      carried.isDataEnded = true;
      carried.stream.push(null);
    } else if (id === carried?.errorId) {
      carried.isErrorEnded = true;
      if (carried.errorText !== '') this.#fail(this.#farEnd(carried.errorText));
    }
    if (carried && this.#carried === carried) this.#endIfOver(carried);
  }

  #onReset(id: number): void {
    if (this.#carriedAs(id)) this.#fail(this.#lost(undefined));
  }

  /** The far end is done with the connection when it has ended both streams. */
  #endIfOver(carried: Carried): void {
    if (!carried.isDataEnded || !carried.isErrorEnded) return;
    this.#carried = undefined;
    if (!carried.isSentEnded) {
      carried.isSentEnded = true;
      this.#send([reset(carried.dataId)]);
      // It reads no more. The bytes that it has sent are still to be read here.
      carried.stream.end();
    }
    this.#socket.resume();
    this.#listener.onIdle();
  }

  #onDestroyed(id: number): void {
    const carried = this.#carriedAs(id);
    if (carried === undefined) return;
    // Bytes of an aborted connection may be on their way: only a new tunnel is free of them.
    if (!carried.isDataEnded || !carried.isSentEnded) {
      this.close();
      return;
    }
    this.#socket.resume();
    const late = setTimeout(() => {
      if (this.#carried === carried) this.close();
    }, ERROR_STREAM_DEADLINE_MS);
    late.unref();
  }

  #carriedAs(id: number): Carried | undefined {
    return this.#carried?.dataId === id ? this.#carried : undefined;
  }

  #fail(cause: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const carried = this.#carried;
    this.#carried = undefined;
    const error = cause instanceof ClusterError ? cause : this.#lost(cause);
    carried?.replied.reject(error);
    carried?.stream.destroy(error);
    if (this.#socket.writable) this.#socket.write(closeFrame());
    this.#socket.destroySoon();
    this.#socket.resume();
    this.#listener.onClosed();
  }

  #lost(cause: unknown): ClusterError {
    const message = `the connection to pod ${this.#name} through the API server was lost`;
    return new ClusterError('CLUSTER_CONNECTION_LOST', message, {
      next: 'connect again; a pod that was deleted takes its connections with it',
      ...(cause === undefined ? {} : { cause }),
    });
  }

  #silent(): ClusterError {
    const message = `no answer to a connection to pod ${this.#name} within ${REPLY_DEADLINE_MS} ms`;
    const next = "check the kubelet of the pod's node, which the API server connects to";
    return new ClusterError('CLUSTER_TIMEOUT', message, { next });
  }

  #farEnd(text: string): ClusterError {
    return new ClusterError('POD_UNREACHABLE', `pod ${this.#name}: ${text.trim()}`, {
      next: 'check that the pod listens on this port at localhost: port-forward connects there',
    });
  }
}
