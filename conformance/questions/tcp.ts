import type net from 'node:net';
import { type Destination, dialSctp, dialTcp, type Origin } from '../../lab/host/sockets.ts';
import { ANSWER_MS, type Outcome, outcomeOfError, SILENCE_MS } from './outcome.ts';
import { payloadOf } from './payload.ts';
import { afterSilence } from './silence.ts';
import { startStopwatch } from './stopwatch.ts';

const REQUEST = '/hostname /clientip'
  .split(' ')
  .map((path) => `GET ${path} HTTP/1.1\r\nHost: conformance\r\n\r\n`)
  .join('');

/** A connection of TCP or SCTP that can be asked once or, while it is held, again and again. */
export class StreamFlow {
  readonly #socket: net.Socket;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    // Each exchange listens for itself; this one keeps an error in between from ending the process.
    this.#socket.on('error', () => undefined);
    this.#socket.setNoDelay(true).setEncoding('latin1');
  }

  static overTcp(origin: Origin, to: Destination): StreamFlow {
    return new StreamFlow(dialTcp(origin, to));
  }

  static overSctp(
    origin: Origin & { readonly sourceAddress: string },
    to: Destination,
  ): StreamFlow {
    return new StreamFlow(dialSctp(origin, to));
  }

  get isConnecting(): boolean {
    return this.#socket.connecting;
  }

  /**
   * Who is at the other end, and which address do they see? With `bytes`, that many go there and back
   * first.
   */
  async ask(bytes = 0): Promise<Outcome> {
    const lapse = startStopwatch();
    const socket = this.#socket;
    if (socket.destroyed) return { kind: 'failed', code: 'the connection is gone' };
    return await new Promise<Outcome>((resolve) => {
      const payload = payloadOf(bytes);
      let text = '';
      const finish = (outcome: Outcome): void => {
        callOff();
        socket.off('data', onData).off('error', onError).off('close', onClose);
        socket.off('connect', onConnect);
        resolve(outcome);
      };
      const onData = (more: string): void => {
        text += more;
        const bodies = bytes > 0 ? parseEcho(text) : parseBodies(text);
        if (!bodies) return;
        if (bodies.echo !== undefined && bodies.echo !== payload) {
          finish({ kind: 'failed', code: 'another payload came back' });
        } else finish({ kind: 'answered', by: bodies.hostname, source: hostOf(bodies.client) });
      };
      const onError = (error: Error): void => finish(outcomeOfError(error, lapse));
      const onClose = (): void => finish({ kind: 'failed', code: 'closed without an answer' });
      const onConnect = (): void => {
        callOff();
        const late: Outcome = { kind: 'failed', code: 'accepted, and no answer' };
        callOff = afterSilence(ANSWER_MS, () => finish(late));
      };
      let callOff = afterSilence(SILENCE_MS, () => finish({ kind: 'silent' }));
      socket.on('data', onData).on('error', onError).on('close', onClose).on('connect', onConnect);
      socket.write(bytes > 0 ? `${echoRequest(payload)}${REQUEST}` : REQUEST);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

interface Bodies {
  readonly echo?: string;
  readonly hostname: string;
  readonly client: string;
}

function echoRequest(payload: string): string {
  return `POST /echo HTTP/1.1\r\nHost: conformance\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`;
}

/** The echo of a payload, and the pair after it. */
export function parseEcho(text: string): Bodies | undefined {
  const echo = parseResponse(text);
  const bodies = echo && parseBodies(echo.rest);
  return bodies && { ...bodies, echo: echo.body };
}

/** Both answers of the pipelined pair, or undefined while they are incomplete. */
export function parseBodies(text: string): Bodies | undefined {
  const first = parseResponse(text);
  const second = first && parseResponse(first.rest);
  return second && { hostname: first.body, client: second.body };
}

function parseResponse(text: string): { body: string; rest: string } | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1]);
  const bodyStart = headEnd + 4;
  if (text.length < bodyStart + length) return undefined;
  return { body: text.slice(bodyStart, bodyStart + length), rest: text.slice(bodyStart + length) };
}

/** The address of `address:port`, IPv6 in brackets. */
export function hostOf(endpoint: string): string {
  return endpoint.slice(0, endpoint.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}
