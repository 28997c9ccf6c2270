import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { Daemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import type { Problem } from '../../../src/wings/view/protocol/common.ts';
import type { Hello, ViewTick } from '../../../src/wings/view/protocol/tick.ts';

const DEADLINE_MS = 20_000;
/** The log has standard error too, where Node warns of removing types from the page's sources. */
const LINE = /^http:\/\/127\.0\.0\.1:(\d+)\/\?token=(\S+)$/m;

/** A tick, when it came, and its size. */
export interface SeenTick {
  readonly tick: ViewTick;
  readonly atMs: number;
  readonly bytes: number;
}

export interface Seen {
  readonly tick: ViewTick;
  readonly afterMs: number;
  /** Including the one that has it: on a busy machine ticks are late. */
  readonly afterTicks: number;
}

/** What a page would see of a running `fairlead view`. */
export class ViewClient {
  readonly #port: number;
  readonly #token: string;
  readonly ticks: SeenTick[] = [];
  readonly hellos: Hello[] = [];
  readonly troubles: Problem[] = [];
  #stream: http.IncomingMessage | undefined;

  private constructor(port: number, token: string) {
    this.#port = port;
    this.#token = token;
  }

  /** Reads the address that it prints. */
  static async of(daemon: Daemon): Promise<ViewClient> {
    const log = (): string => readFileSync(daemon.logFile, 'utf8');
    await until(() => LINE.test(log()), {
      what: () => `the address of fairlead view: ${log()}`,
      deadlineMs: DEADLINE_MS,
    });
    const [, port, token = ''] = LINE.exec(log()) ?? [];
    return new ViewClient(Number(port), token);
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.#ask(path);
    let text = '';
    for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString('utf8');
    return JSON.parse(text) as T;
  }

  /** Collects events until `close`; resolves at the first. */
  async follow(): Promise<void> {
    const stream = await this.#ask('/data/ticks');
    this.#stream = stream;
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      const events = (text + chunk).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) this.#take(event);
    });
    stream.on('error', () => stream.destroy());
    await until(() => this.hellos.length > 0, {
      what: () => `hello (${stream.statusCode}, ${JSON.stringify(this.troubles.at(-1))})`,
      deadlineMs: DEADLINE_MS,
    });
  }

  close(): void {
    this.#stream?.destroy();
  }

  /** The first tick from now on that is as wanted, and how long it took. */
  async seen(
    what: string,
    isSeen: (tick: ViewTick) => boolean,
    sinceMs = performance.now(),
  ): Promise<Seen> {
    const find = () => this.ticks.find(({ atMs, tick }) => atMs >= sinceMs && isSeen(tick));
    await until(() => find() !== undefined, {
      what: () => `${what}: ${JSON.stringify(this.ticks.at(-1)?.tick)}`,
      deadlineMs: 15_000,
    });
    const found = find();
    if (found === undefined) throw new TypeError('a tick was seen and is gone');
    const afterTicks = this.ticks.filter(({ atMs }) => atMs >= sinceMs && atMs <= found.atMs);
    return { tick: found.tick, afterMs: found.atMs - sinceMs, afterTicks: afterTicks.length };
  }

  #take(event: string): void {
    const [, kind, json = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
    if (kind === 'hello') this.hellos.push(JSON.parse(json) as Hello);
    if (kind === 'trouble') this.troubles.push(JSON.parse(json) as Problem);
    if (kind !== 'tick') return;
    const tick = JSON.parse(json) as ViewTick;
    this.ticks.push({ tick, atMs: performance.now(), bytes: Buffer.byteLength(json) });
  }

  async #ask(path: string): Promise<http.IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const headers = { Authorization: `Bearer ${this.#token}` };
    const options = { host: '127.0.0.1', port: this.#port, path, headers, agent: false };
    http.get(options, resolve).on('error', reject);
    return await promise;
  }
}
