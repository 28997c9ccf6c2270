import { setImmediate } from 'node:timers/promises';
import type { Answers, Hello, Request, WireChange, WireConnection } from '../protocol.ts';
import { keyOf } from '../row-key.ts';
import { jsonArray } from './answer-parts.ts';
import { endpointCounts, totalCounts } from './counting.ts';
import type { Directory } from './directory.ts';
import type { ForwarderLog } from './log.ts';
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
  readonly log: Pick<ForwarderLog, 'warn'>;
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
        return await jsonArray(this.#options.directory.rows.digests());
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
    const { directory, log } = this.#options;
    const { rows } = directory;
    let sliceEndsAtMs = performance.now() + SLICE_MS;
    for (const change of changes) {
      try {
        rows.apply(change);
      } catch (error) {
        rows.decline(keyOf(change));
        log.warn('a row cannot be taken', { row: keyOf(change), error: String(error) });
      }
      if (performance.now() < sliceEndsAtMs) continue;
      await setImmediate();
      sliceEndsAtMs = performance.now() + SLICE_MS;
    }
    const declined = changes.map(keyOf).filter((key) => rows.isDeclined(key));
    return { rowCount: rows.rowCount, declined: [...new Set(declined)] };
  }

  async #pulse(): Promise<Answers['pulse']> {
    const { threads, mostConnections, life } = this.#options;
    const openConnections = await threads.pulse();
    const { isDraining } = life;
    const isFull = openConnections >= mostConnections * FULL_SHARE || threads.lacksRoom;
    return { openConnections, mostConnections, accepts: !isDraining && !isFull, isDraining };
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
    const { row, endpoint } = directory.slots.identity(slot);
    return { ...connection, row, endpoint, ageMs: Math.max(0, Math.round(nowMs() - openedAtMs)) };
  }
}
