import net from 'node:net';
import type { LoadWay } from './load-questions.ts';

/**
 * A busy machine may delay a server for half a minute. Lost packets show at once in the sender's
 * retransmission counters; this timeout is for connections that are never established.
 */
const DEADLINE_MS = 60_000;
const QUESTION = 'GET /hostname HTTP/1.1\r\nHost: lab\r\n\r\n';
const ANSWER = /\r\n\r\n(\w+)$/;

/** Connects, asks, and closes. Gives the reason if there was no answer. */
export async function connectOnce(way: LoadWay, sourcePort: number): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const socket = net.connect({ host: way.address, port: way.port, localPort: sourcePort });
    let text = '';
    // Not `setTimeout` of the socket: it counts from the last packet.
    const late = setTimeout(() => socket.destroy(new Error('no answer in time')), DEADLINE_MS);
    socket.on('connect', () => socket.write(QUESTION));
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
      if (!ANSWER.test(text)) return;
      resolve(undefined);
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => {
      clearTimeout(late);
      resolve('closed without an answer');
    });
  });
}

/** A connection over which is asked again and again. */
export class Stream {
  readonly #way: LoadWay;
  #answers = 0;
  #longestSilenceMs = 0;
  #lastMs = 0;
  #error: string | undefined;
  #isEnded = false;

  constructor(way: LoadWay) {
    this.#way = way;
  }

  start(signal: AbortSignal): void {
    const socket = net.connect({ host: this.#way.address, port: this.#way.port });
    this.#lastMs = performance.now();
    const ask = (): void => {
      socket.write(QUESTION);
    };
    const asking = setInterval(() => this.#noteSilence(), SILENCE_LOOK_MS);
    socket.on('connect', ask);
    let text = '';
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
      if (!ANSWER.test(text)) return;
      text = '';
      this.#noteSilence();
      this.#lastMs = performance.now();
      this.#answers++;
      setTimeout(ask, ASK_EVERY_MS);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#error = error.code ?? error.message;
    });
    socket.on('close', () => {
      clearInterval(asking);
      if (!this.#isEnded) this.#error ??= 'closed by the other side';
    });
    signal.addEventListener('abort', () => {
      this.#isEnded = true;
      socket.destroy();
    });
  }

  /** Since the last tally. */
  tally(): { answers: number; longestSilenceMs: number; error?: string } {
    const tally = { answers: this.#answers, longestSilenceMs: this.#longestSilenceMs };
    this.#answers = 0;
    this.#longestSilenceMs = 0;
    return { ...tally, ...(this.#error === undefined ? {} : { error: this.#error }) };
  }

  #noteSilence(): void {
    const silenceMs = performance.now() - this.#lastMs;
    this.#longestSilenceMs = Math.max(this.#longestSilenceMs, silenceMs);
  }
}

const ASK_EVERY_MS = 20;
const SILENCE_LOOK_MS = 100;
