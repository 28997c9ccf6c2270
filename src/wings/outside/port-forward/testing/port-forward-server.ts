import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';

const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const SYN_STREAM = 1;
const RST_STREAM = 3;
const PING = 6;
const HEADERS_AT = 18;
const ZLIB_BEGIN_BYTES = 6;
const STORED_BYTES = 5;

/** A connection as the far end sees it; both streams of it are open. */
export interface FarConnection {
  readonly port: number;
  readonly tunnel: FarTunnel;
  readonly dataId: number;
  readonly errorId: number;
  readonly received: Buffer[];
  isEnded: boolean;
  isReset: boolean;
}

/**
 * The API server and kubelet of a port-forward, scripted: for what a real one cannot be made to do.
 * The real ones are in integration/tests/shell.
 */
export class PortForwardServer implements AsyncDisposable {
  readonly requests: http.IncomingMessage[] = [];
  readonly tunnels: FarTunnel[] = [];
  readonly #server = http.createServer();
  readonly #onConnection: (connection: FarConnection) => void;
  /** Answers instead of an upgrade, in order. */
  readonly rejections: { status: number; body: string }[] = [];

  constructor(onConnection: (connection: FarConnection) => void) {
    this.#onConnection = onConnection;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}/base`);
  }

  async start(): Promise<this> {
    this.#server.on('upgrade', (request: http.IncomingMessage, socket: net.Socket) => {
      this.requests.push(request);
      const rejected = this.rejections.shift();
      if (rejected) return void socket.end(rejectionText(rejected));
      socket.write(upgradeText(String(request.headers['sec-websocket-key'])));
      const tunnel = new FarTunnel(socket, this.#onConnection);
      this.tunnels.push(tunnel);
      socket.on('error', () => undefined);
      socket.on('end', () => socket.end());
      socket.on('data', (chunk: Buffer) => tunnel.read(chunk));
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.tunnels) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export class FarTunnel {
  readonly socket: net.Socket;
  readonly #onConnection: (connection: FarConnection) => void;
  readonly #connections = new Map<number, FarConnection>();
  readonly #errorIds = new Map<string, number>();
  #bytes = Buffer.alloc(0);
  #blockCount = 0;
  /** Control frames other than new streams, such as answers to pings. */
  readonly controls: { type: number; body: Buffer }[] = [];
  isClosedByClient = false;

  constructor(socket: net.Socket, onConnection: (connection: FarConnection) => void) {
    this.socket = socket;
    this.#onConnection = onConnection;
  }

  read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const [first, second] = this.#bytes;
      if (first === undefined || second === undefined) return;
      const short = second & 0x7f;
      const headBytes = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + 4;
      if (this.#bytes.length < headBytes) return;
      const length = short === 126 ? this.#bytes.readUInt16BE(2) : short;
      if (this.#bytes.length < headBytes + length) return;
      const payload = this.#bytes.subarray(headBytes, headBytes + length);
      this.#bytes = this.#bytes.subarray(headBytes + length);
      if ((first & 0x0f) === 8) this.isClosedByClient = true;
      else if ((first & 0x0f) === 2) this.#frames(payload);
    }
  }

  /** One SPDY frame for each part, in messages cut at any place. */
  send(bytes: Buffer, cutAt = bytes.length): void {
    for (const part of [bytes.subarray(0, cutAt), bytes.subarray(cutAt)]) {
      const head = Buffer.from([0x82, 126, 0, 0]);
      head.writeUInt16BE(part.length, 2);
      this.socket.write(Buffer.concat([head, part]));
    }
  }

  reply(connection: FarConnection): void {
    this.send(Buffer.concat([replyFrame(connection.errorId), replyFrame(connection.dataId)]));
  }

  data(id: number, bytes: Buffer | string, isLast = false): void {
    const body = Buffer.from(bytes);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(((isLast ? 1 << 24 : 0) | body.length) >>> 0, 4);
    this.send(Buffer.concat([head, body]));
  }

  /** As the kubelet ends a connection: first the error stream, with a text if it failed. */
  end(connection: FarConnection, errorText = ''): void {
    this.data(connection.errorId, errorText, true);
    this.data(connection.dataId, '', true);
  }

  #frames(message: Buffer): void {
    for (let rest = message; rest.length > 0; ) {
      const first = rest.readUInt32BE(0);
      const length = rest.readUInt32BE(4) & 0xffffff;
      const frame = rest.subarray(0, 8 + length);
      rest = rest.subarray(8 + length);
      if (first < 0x8000_0000) this.#data(first, frame);
      else this.#control(first & 0xffff, frame);
    }
  }

  #data(id: number, frame: Buffer): void {
    const connection = this.#connections.get(id);
    connection?.received.push(frame.subarray(8));
    if (connection && ((frame[4] ?? 0) & 1) !== 0) connection.isEnded = true;
  }

  #control(type: number, frame: Buffer): void {
    if (type === SYN_STREAM) {
      this.#open(frame.readUInt32BE(8), this.#headers(frame));
      return;
    }
    this.controls.push({ type, body: frame.subarray(8) });
    const connection = this.#connections.get(frame.readUInt32BE(8));
    if (type === RST_STREAM && connection) connection.isReset = true;
  }

  #open(id: number, headers: ReadonlyMap<string, string>): void {
    const request = headers.get('requestid') ?? '';
    if (headers.get('streamtype') === 'error') return void this.#errorIds.set(request, id);
    const connection: FarConnection = {
      port: Number(headers.get('port')),
      tunnel: this,
      dataId: id,
      errorId: this.#errorIds.get(request) ?? 0,
      received: [],
      isEnded: false,
      isReset: false,
    };
    this.#connections.set(id, connection);
    this.#onConnection(connection);
  }

  #headers(frame: Buffer): ReadonlyMap<string, string> {
    const begin = HEADERS_AT + (this.#blockCount++ === 0 ? ZLIB_BEGIN_BYTES : 0) + STORED_BYTES;
    const headers = new Map<string, string>();
    let at = begin + 4;
    const text = (): string => {
      const length = frame.readUInt32BE(at);
      at += 4 + length;
      return frame.toString('utf8', at - length, at);
    };
    for (let left = frame.readUInt32BE(begin); left > 0; left--) headers.set(text(), text());
    return headers;
  }
}

export function pingFrame(id: number): Buffer {
  return Buffer.from([0x80, 3, 0, PING, 0, 0, 0, 4, 0, 0, 0, id]);
}

function replyFrame(id: number): Buffer {
  const frame = Buffer.from([0x80, 3, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0]);
  frame.writeUInt32BE(id, 8);
  return frame;
}

function upgradeText(key: string): string {
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  const protocol = 'Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io';
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return `${[...head, `Sec-WebSocket-Accept: ${accept}`, protocol].join('\r\n')}\r\n\r\n`;
}

function rejectionText({ status, body }: { status: number; body: string }): string {
  return `HTTP/1.1 ${status} No\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
