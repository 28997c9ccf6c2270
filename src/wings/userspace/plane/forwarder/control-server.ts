import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Request } from '../forwarder-protocol.ts';
import { FrameReader, frame } from '../framing.ts';
import type { ForwarderLog } from './log.ts';

/** A row of 100,000 endpoints in both lists is half of it. */
const MOST_REQUEST_BYTES = 16 * 1024 * 1024;
const MOST_CLIENTS = 64;
const OWNER_ONLY_UMASK = 0o177;

export interface ControlOptions {
  /** The JSON of the answer in parts. What it throws is told to the client. */
  readonly answer: (request: Request) => Promise<readonly string[]>;
  readonly log: ForwarderLog;
}

/**
 * Answers requests on a stream socket, those of one client in their order and those of several side
 * by side. A client is not read while its request is being answered.
 */
export class ControlServer {
  readonly #options: ControlOptions;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();

  constructor(options: ControlOptions) {
    this.#options = options;
    this.#server = createServer((client) => this.#accept(client));
    this.#server.maxConnections = MOST_CLIENTS;
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** The file must not exist. Only its owner may connect. */
  async listen(path: string): Promise<void> {
    const umask = process.umask(OWNER_ONLY_UMASK);
    try {
      this.#server.listen(path);
      await once(this.#server, 'listening');
    } finally {
      process.umask(umask);
    }
  }

  close(): void {
    this.#server.close();
    for (const client of this.#clients) client.destroy();
  }

  #accept(client: Socket): void {
    this.#clients.add(client);
    const { log } = this.#options;
    client.on('close', () => this.#clients.delete(client));
    client.on('error', (error) => log.warn('control connection failed', { error: error.message }));
    const reader = new FrameReader(MOST_REQUEST_BYTES);
    client.on('data', (chunk: Buffer) => {
      client.pause();
      this.#serve(client, () => reader.push(chunk)).then(
        () => client.resume(),
        (error: unknown) => client.destroy(error instanceof Error ? error : undefined),
      );
    });
  }

  async #serve(client: Socket, read: () => unknown[]): Promise<void> {
    for (const message of read()) {
      if (client.destroyed) return;
      const parts = await this.#reply(message as Request);
      let hasRoom = true;
      for (const part of frame(...parts)) hasRoom = client.write(part);
      if (!hasRoom && !client.destroyed) await drained(client);
    }
  }

  async #reply(request: Request): Promise<readonly string[]> {
    try {
      return ['{"ok":', ...(await this.#options.answer(request)), '}'];
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#options.log.warn('request failed', { request: request.do, error: text });
      return [JSON.stringify({ error: text })];
    }
  }
}

/** Or closed: a client that does not read must not keep its answer for longer than itself. */
async function drained(client: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('drain', resolve);
  client.once('close', resolve);
  await promise;
}
