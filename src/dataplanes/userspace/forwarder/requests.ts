import { setImmediate } from 'node:timers/promises';
import type { Answers, Hello, Request, WireChange, WireConnection } from '../protocol.ts';
import { jsonArray } from './answer-parts.ts';
import { endpointCounts, totalCounts } from './counting.ts';
import type { Directory } from './directory.ts';
import type { ThreadConnection } from './messages.ts';
import type { ThreadGroup } from './thread-group.ts';

/** How long changes of rows hold up the event loop. */
const SLICE_MS = 8;
/** From this share of its connections on it is full. */
const FULL_SHARE = 0.9;

/** What the process does beside answering. */
export interface ForwarderLife {
  readonly isDraining: boolean;
  drain(deadlineMs: number, final: boolean): Promise<void>;
  takeOver(from: string): Promise<Answers['take-over']>;
}

export interface RequestsOptions {
  readonly hello: Hello;
  readonly mostConnections: number;
  readonly directory: Directory;
  readonly threads: ThreadGroup;
  readonly life: ForwarderLife;
  /** Of the shared clock. */
  readonly nowMs: () => number;
}

/** Answers the requests of the agent and of commands. */
export class Requests {
  readonly #options: RequestsOptions;
  /** Applies of several clients come one after the other. */
  #applied: Promise<unknown> = Promise.resolve();

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** The JSON of the answer, in parts. */
  async answer(request: Request): Promise<readonly string[]> {
    switch (request.do) {
      case 'digests':
        return await jsonArray(this.#digests());
      case 'counts':
        return await this.#counts();
      case 'connections':
        return await this.#connections(request.most);
      default:
        return [JSON.stringify(await this.#small(request))];
    }
  }

  async #small(
    request: Exclude<Request, { readonly do: 'digests' | 'counts' | 'connections' }>,
  ): Promise<object> {
    const { hello, directory, threads, life, nowMs } = this.#options;
    switch (request.do) {
      case 'hello':
        return hello;
      case 'apply':
        return await this.#inTurn(() => this.#apply(request.changes));
      case 'pulse':
        return await this.#pulse();
      case 'totals':
        return totalCounts(directory, nowMs());
      case 'end':
        return await threads.end(request.connections);
      case 'drain':
        await life.drain(request.deadlineMs, request.final);
        return { openConnections: await threads.pulse() } satisfies Answers['drain'];
      case 'take-over':
        return await this.#inTurn(() => life.takeOver(request.from));
      default:
        throw new Error(`no request '${String((request as Request).do)}'`);
    }
  }

  async #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#applied.then(task, task);
    this.#applied = done;
    return await done;
  }

  async #apply(changes: readonly WireChange[]): Promise<Answers['apply']> {
    const { directory, threads } = this.#options;
    let sliceEndsAtMs = performance.now() + SLICE_MS;
    try {
      for (const change of changes) {
        directory.apply(change);
        if (performance.now() < sliceEndsAtMs) continue;
        directory.flush();
        await setImmediate();
        sliceEndsAtMs = performance.now() + SLICE_MS;
      }
    } finally {
      directory.flush();
    }
    await threads.settle();
    return { rowCount: directory.rows.rowCount };
  }

  async #pulse(): Promise<Answers['pulse']> {
    const { threads, mostConnections, life } = this.#options;
    const openConnections = await threads.pulse();
    const { isDraining } = life;
    const accepts = !isDraining && openConnections < mostConnections * FULL_SHARE;
    return { openConnections, mostConnections, accepts, isDraining };
  }

  *#digests(): Generator<readonly [key: string, digest: string]> {
    const { rows } = this.#options.directory;
    for (const key of rows.keys()) {
      const digest = rows.digest(key);
      if (digest !== undefined) yield [key, digest];
    }
  }

  async #counts(): Promise<readonly string[]> {
    const { directory, nowMs } = this.#options;
    const { affinity, slots } = directory;
    const { clientCount: remembered, room } = affinity;
    const rest = {
      affinity: { remembered, room, full: affinity.full() },
      failed: slots.threadCount('failed'),
      unknownFrontend: slots.threadCount('unknownFrontend'),
    } satisfies Omit<Answers['counts'], 'endpoints'>;
    const endpoints = await jsonArray(endpointCounts(directory, nowMs()));
    return ['{"endpoints":', ...endpoints, `,${JSON.stringify(rest).slice(1)}`];
  }

  async #connections(most: number): Promise<readonly string[]> {
    const { threads } = this.#options;
    const { first, count } = await threads.connections(most);
    const described = await jsonArray(first.map((connection) => this.#described(connection)));
    return ['{"first":', ...described, `,"count":${count}}`];
  }

  #described({ slot, openedAtMs, ...connection }: ThreadConnection): WireConnection {
    const { directory, nowMs } = this.#options;
    const { row, endpoint } = directory.slots.identity(slot) ?? { row: '', endpoint: '' };
    return { ...connection, row, endpoint, ageMs: Math.max(0, Math.round(nowMs() - openedAtMs)) };
  }
}
