import { setImmediate } from 'node:timers/promises';
import {
  type Answers,
  type Hello,
  keyOf,
  type Request,
  type WireChange,
  type WireConnection,
  type WireEndpointCount,
} from '../forwarder-protocol.ts';
import { inGroups } from '../in-groups.ts';
import type { ThreadGroup } from './copying-threads.ts';
import type { Directory } from './forwarder-directory.ts';
import type { ForwarderLog } from './log.ts';
import type { ProcessLife } from './process-life.ts';
import type { ThreadConnection } from './thread-messages.ts';

/** How long changes of rows hold up the event loop. */
const SLICE_MS = 8;
/** From this share of its connections on it is full. */
const FULL_SHARE = 0.9;
/** Elements that are written as JSON in one event loop iteration. */
const PER_ITERATION = 2_000;

export interface RequestsOptions {
  readonly hello: Hello;
  readonly mostConnections: number;
  readonly directory: Directory;
  readonly threads: ThreadGroup;
  readonly life: Pick<ProcessLife, 'isDraining' | 'drain' | 'takeOver'>;
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
    const { hello, directory, threads, life, nowMs } = this.#options;
    switch (request.do) {
      case 'hello':
        return json<'hello'>(hello);
      case 'apply':
        return json<'apply'>(await this.#inTurn(() => this.#apply(request.changes)));
      case 'digests':
        return await jsonArray(directory.rows.digests());
      case 'pulse':
        return json<'pulse'>(await this.#pulse());
      case 'counts':
        return await this.#counts();
      case 'totals':
        return json<'totals'>(totalCounts(directory, nowMs()));
      case 'connections':
        return await this.#connections(request.most);
      case 'end':
        return json<'end'>(await threads.end(request.connections));
      case 'drain':
        await life.drain(request.deadlineMs, request.final);
        return json<'drain'>({});
      case 'take-over':
        return json<'take-over'>(await this.#inTurn(() => life.takeOver(request.from)));
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
    return { declined: [...new Set(declined)] };
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

/** Of each endpoint that is in a row and was ever chosen or refused. */
export function* endpointCounts({ slots }: Directory, nowMs: number): Generator<WireEndpointCount> {
  for (const slot of slots.slots()) {
    const identity = slots.identity(slot);
    if (identity.row === '' || slots.isLeaving(slot)) continue;
    const avoidedMs = Math.max(0, Math.round(slots.avoidedUntilMs(slot) - nowMs));
    yield { ...identity, ...slots.counts(slot), open: slots.open(slot), avoidedMs };
  }
}

/** Sums that never fall: with the endpoints that are gone. */
export function totalCounts({ slots }: Directory, nowMs: number): Answers['totals'] {
  let open = 0;
  let avoidedEndpoints = 0;
  for (const slot of slots.slots()) {
    open += slots.open(slot);
    if (slots.avoidedUntilMs(slot) > nowMs) avoidedEndpoints++;
  }
  const failed = slots.threadCount('failed');
  const unknownFrontend = slots.threadCount('unknownFrontend');
  return { ...slots.sums(), open, avoidedEndpoints, failed, unknownFrontend };
}

function json<Asked extends Request['do']>(answer: Answers[Asked]): string[] {
  return [JSON.stringify(answer)];
}

/** The JSON of an array in parts, so that a long one does not hold up the event loop. */
export async function jsonArray<T>(elements: Iterable<T>): Promise<string[]> {
  const parts: string[] = [];
  for (const group of inGroups(elements, PER_ITERATION)) {
    if (parts.length > 0) parts.push(',');
    parts.push(group.map((element) => JSON.stringify(element)).join(','));
    await setImmediate();
  }
  return ['[', ...parts, ']'];
}
