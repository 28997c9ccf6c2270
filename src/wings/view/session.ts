import type { Clock } from '../../time/clock.ts';
import { AgentWatch, TICK_MS } from './agent-watch.ts';
import { fittedTick } from './fit-tick.ts';
import { Past } from './past.ts';
import { problemOf } from './problem.ts';
import type { Problem } from './protocol/common.ts';

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
