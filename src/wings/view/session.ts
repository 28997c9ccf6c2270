import type { Clock } from '../../time/clock.ts';
import { AgentWatch, TICK_MS } from './agent-watch.ts';
import type { Problem } from './protocol/common.ts';
import type { PastPoint, ViewTick } from './protocol/tick.ts';
import { problemOf } from './view-problem.ts';

export interface SessionOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  /** Pages that follow the ticks. */
  readonly followers: () => number;
  readonly onTick: (json: string) => void;
  readonly onTrouble: (problem: Problem) => void;
  /** The agent answers again. */
  readonly onRecovery: () => void;
  /** An error of ours. */
  readonly onProblem: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** After so long without a page nothing is read any more. */
const LINGER_MS = 15_000;

/** Watches the agent while a page is open, and not at all otherwise. */
export class Session {
  readonly #options: SessionOptions;
  readonly #past = new Past();
  #running: Promise<void> | undefined;
  #begun = Promise.withResolvers<AgentWatch>();
  #wantedAtMs = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get past(): Past {
    return this.#past;
  }

  /** Starts to watch if it does not. Resolves to the watch. Throws what beginning failed with. */
  async watch(): Promise<AgentWatch> {
    const { clock, signal } = this.#options;
    signal.throwIfAborted();
    this.#wantedAtMs = clock.monotonicMs();
    this.#running ??= this.#run();
    return await this.#begun.promise;
  }

  /** Resolves when it has ended. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal, clock, onTrouble, onProblem } = this.#options;
    let hasFailed = false;
    while (!signal.aborted && this.#isWanted()) {
      try {
        await this.#watchAgent(hasFailed);
      } catch (error) {
        if (signal.aborted) break;
        hasFailed = true;
        const { problem } = problemOf(error);
        if (problem.code === 'INTERNAL') onProblem(error);
        this.#fail(error);
        onTrouble(problem);
        await clock.sleep(TICK_MS, signal);
      }
    }
    // Together with leaving the loop: who asks from now on starts another one.
    this.#running = undefined;
    this.#fail(signal.reason ?? new Error('no page is open'));
  }

  /** Who waits for the watch gets the error; who asks later waits for the next attempt. */
  #fail(error: unknown): void {
    // A rejection that no page waits for must not end the program.
    this.#begun.promise.catch(() => undefined);
    this.#begun.reject(error);
    this.#begun = Promise.withResolvers();
  }

  async #watchAgent(isRecovery: boolean): Promise<void> {
    const { socketPath, clock, onTick, onRecovery } = this.#options;
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, stop.signal]);
    try {
      const watch = await AgentWatch.begin({ socketPath, clock, signal });
      this.#begun.resolve(watch);
      if (isRecovery) onRecovery();
      await watch.prepare();
      let dueMs = clock.monotonicMs();
      while (!signal.aborted && this.#isWanted()) {
        dueMs = Math.max(dueMs + TICK_MS, clock.monotonicMs());
        await clock.sleep(dueMs - clock.monotonicMs(), signal);
        if (signal.aborted) return;
        const tick = await watch.tick();
        this.#past.add(tick);
        onTick(fittedTick(tick));
      }
    } finally {
      stop.abort();
    }
  }

  #isWanted(): boolean {
    const { followers, clock } = this.#options;
    return followers() > 0 || clock.monotonicMs() - this.#wantedAtMs < LINGER_MS;
  }
}

/** A tick goes to every page each second, also over a slow tunnel. */
export const MOST_TICK_BYTES = 20_000;

/**
 * The tick as JSON in its bounds. Names and sentences may be long: first changes are left out, which
 * the page can ask for, then notes and troubles, then the least busy Services.
 */
export function fittedTick(tick: ViewTick): string {
  let now = tick;
  for (;;) {
    const json = JSON.stringify(now);
    if (Buffer.byteLength(json) <= MOST_TICK_BYTES) return json;
    const smaller = withLess(now);
    if (smaller === undefined) return json;
    now = smaller;
  }
}

/** Undefined: nothing more can be left out. */
function withLess(tick: ViewTick): ViewTick | undefined {
  const { changes, troubles, notes, map } = tick;
  if (changes.length > 0) {
    const kept = changes.slice(0, Math.floor(changes.length / 2));
    const leftOut = changes.length - kept.length;
    return { ...tick, changes: kept, changesLeftOut: tick.changesLeftOut + leftOut };
  }
  if (troubles.length > 1 || notes.length > 1) {
    return { ...tick, troubles: troubles.slice(0, 1), notes: notes.slice(0, 1) };
  }
  if (map.services.length > 0) {
    return { ...tick, map: { ...map, services: map.services.slice(0, -1) } };
  }
  return undefined;
}

const MOST_POINTS = 120;

/** Totals of the last ticks, for a page that is opened later. */
class Past {
  #points: PastPoint[] = [];

  add({ atMs, totals, propagation }: ViewTick): void {
    const { newPerSecond, rejectedPerSecond, droppedPerSecond } = totals;
    this.#points.push({
      atMs,
      ...(newPerSecond === undefined ? {} : { newPerSecond }),
      ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond }),
      ...(droppedPerSecond === undefined ? {} : { droppedPerSecond }),
      ...(propagation === undefined ? {} : { p50Ms: propagation.p50Ms }),
    });
    this.#points = this.#points.slice(-MOST_POINTS);
  }

  points(): readonly PastPoint[] {
    return this.#points;
  }
}
