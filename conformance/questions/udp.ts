import type dgram from 'node:dgram';
import { type Destination, dialUdp, type Origin } from '../../lab/host/sockets.ts';
import { type Outcome, outcomeOfError, SILENCE_MS } from './outcome.ts';
import { payloadOf } from './payload.ts';
import { afterSilence } from './silence.ts';
import { type Stopwatch, startStopwatch } from './stopwatch.ts';
import { hostOf } from './tcp.ts';

const ECHO_WORD = 'echo ';

/** A UDP socket with one source port: the same flow however often it is asked. */
export class UdpFlow {
  readonly #socket: dgram.Socket;

  private constructor(socket: dgram.Socket) {
    this.#socket = socket;
    // An ICMP rejection may arrive between two exchanges; the next exchange gets its own.
    socket.on('error', () => undefined);
  }

  static async open(origin: Origin, to: Destination): Promise<UdpFlow> {
    return new UdpFlow(await dialUdp(origin, to));
  }

  /** Who is at the other end? With `bytes`, a datagram of that size goes there and back first. */
  async ask(bytes = 0): Promise<Outcome> {
    const lapse = startStopwatch();
    if (bytes > 0) {
      const payload = payloadOf(bytes);
      const echo = await this.#exchange(`${ECHO_WORD}${payload}`, lapse);
      if (typeof echo !== 'string') return echo;
      if (echo !== payload) return { kind: 'failed', code: 'another payload came back' };
    }
    const hostname = await this.#exchange('hostname', lapse);
    if (typeof hostname !== 'string') return hostname;
    const client = await this.#exchange('clientip', lapse);
    if (typeof client !== 'string') return client;
    return { kind: 'answered', by: hostname, source: hostOf(client) };
  }

  close(): void {
    this.#socket.close();
  }

  async #exchange(word: string, lapse: Stopwatch): Promise<string | Outcome> {
    const socket = this.#socket;
    return await new Promise<string | Outcome>((resolve) => {
      const finish = (result: string | Outcome): void => {
        callOff();
        socket.off('message', onMessage).off('error', onError);
        resolve(result);
      };
      const onMessage = (message: Buffer): void => finish(message.toString());
      const onError = (error: Error): void =>
        finish(isTooLarge(error) ? { kind: 'silent' } : outcomeOfError(error, lapse));
      const callOff = afterSilence(SILENCE_MS, () => finish({ kind: 'silent' }));
      socket.on('message', onMessage).on('error', onError);
      socket.send(word, (error) => {
        // The node's own rules dropped or rejected the packet. For a rejection, an ICMP error
        // follows a moment later.
        if (error && (error as NodeJS.ErrnoException).code !== 'EPERM') onError(error);
      });
    });
  }
}

/** A router on the way has dropped it, and said which size would have passed. */
function isTooLarge(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EMSGSIZE';
}
