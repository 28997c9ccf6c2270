import http from 'node:http';
import { join } from 'node:path';
import type { PlaceLimits } from '../connection-places.ts';
import { EventStreams, type StreamLimits } from '../event-streams.ts';
import { readPageFiles } from '../page-files.ts';
import { openViewServer } from '../server.ts';
import type { ViewData } from '../view-data.ts';

const DEADLINE_MS = 5_000;
export const TOKEN = 'a-token-of-the-tests';

export interface Got {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A real server with a small page, and with data of the test. */
export class OpenedView {
  readonly port: number;
  readonly streams: EventStreams;
  readonly problems: unknown[];
  readonly #stop: AbortController;

  private constructor(parts: {
    port: number;
    streams: EventStreams;
    problems: unknown[];
    stop: AbortController;
  }) {
    this.port = parts.port;
    this.streams = parts.streams;
    this.problems = parts.problems;
    this.#stop = parts.stop;
  }

  static async open(
    data: Partial<ViewData>,
    {
      limits = { streams: 3, unreadBytes: 1000 },
      mayProbe = false,
      places = {},
    }: {
      readonly limits?: StreamLimits;
      readonly mayProbe?: boolean;
      readonly places?: Partial<PlaceLimits>;
    } = {},
  ): Promise<OpenedView> {
    const stop = new AbortController();
    const streams = new EventStreams(limits);
    const problems: unknown[] = [];
    const path = join(import.meta.dirname, 'page');
    const files = readPageFiles({ path, hasTypes: true });
    const site = { files, data: data as ViewData, mayProbe };
    const { port } = await openViewServer(
      {
        port: 0,
        token: TOKEN,
        site,
        streams,
        places,
        onFollow: async () => ({ event: 'hello', json: '{}' }),
        onProblem: (error) => problems.push(error),
      },
      stop.signal,
    );
    return new OpenedView({ port, streams, problems, stop });
  }

  close(): void {
    this.#stop.abort();
  }

  /** With the right Host and token, unless the headers have others; an empty one is left out. */
  async get(path: string, { method = 'GET', headers = {} }: Ask = {}): Promise<Got> {
    const response = await this.#answer(path, { method, headers });
    // An answer that does not end is a failure, and no reason to wait.
    const late = setTimeout(() => response.destroy(new Error(`${path} has no end`)), DEADLINE_MS);
    response.on('close', () => clearTimeout(late));
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const { statusCode: status = 0, headers: got } = response;
    return { status, headers: got, body: Buffer.concat(chunks).toString('utf8') };
  }

  /** A stream that stays open until the server closes. */
  async follow(): Promise<http.IncomingMessage> {
    return await this.#answer('/data/ticks', {});
  }

  async #answer(
    path: string,
    { method = 'GET', headers = {} }: Ask,
  ): Promise<http.IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const all = { Host: `127.0.0.1:${this.port}`, Authorization: `Bearer ${TOKEN}`, ...headers };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const options = { host: '127.0.0.1', port: this.port, path, method, headers: sent };
    const request = http.request({ ...options, agent: false }, resolve);
    request.on('error', reject);
    request.end();
    return await promise;
  }
}
