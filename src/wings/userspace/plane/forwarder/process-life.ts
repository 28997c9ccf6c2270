import type { DescriptorSocket } from '../../../../linux/userspace/pass-descriptors.ts';
import type { Answers } from '../forwarder-protocol.ts';
import type { SocketNames } from '../run-files.ts';
import type { ThreadGroup } from './copying-threads.ts';
import type { Directory } from './forwarder-directory.ts';
import { type Given, giveAll } from './handover-giving.ts';
import { takeAll } from './handover-taking.ts';
import type { ForwarderLog } from './log.ts';

export interface LifeOptions {
  readonly directory: Directory;
  readonly threads: ThreadGroup;
  readonly names: SocketNames;
  readonly log: ForwarderLog;
  /** Of the shared clock. */
  readonly nowMs: () => number;
  /** Connections to the control socket. */
  readonly clientCount: () => number;
  /** Ends the process. `final`: no forwarder follows. */
  readonly end: (code: number, final: boolean) => Promise<void>;
  /** Other processes may delete the routes of the return path. */
  readonly keepRoutes: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly idleMs?: number;
  readonly handshakeMs?: number;
}

interface Drain {
  /** Of `performance.now()`; infinite for one that was replaced. */
  readonly endsAtMs: number;
  readonly final: boolean;
  /** Until then it accepts connections that were on their way to it. */
  readonly acceptsUntilMs: number;
}

const TICK_MS = 1_000;
const KEEP_ROUTES_MS = 10_000;
const DRAIN_POLL_MS = 100;
/** Nothing is handed over any more, but a distant client has still to answer our part of the handshake. */
const HANDSHAKE_MS = 1_000;
/** Without an agent and without connections. */
const IDLE_MS = 60_000;

/** Accepting, draining, handing over and ending of the process. */
export class ProcessLife {
  readonly #options: LifeOptions;
  #accepts = false;
  #drain: Drain | undefined;
  #given: Given | undefined;
  /** Pairs may belong to no process: the process must not end. */
  #isGiving = false;
  /** Forwarders before this one that still have connections, and so counts to hand over. */
  #earlierCount = 0;
  #idleSinceMs = performance.now();
  #keptRoutesAtMs = performance.now();

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#drain !== undefined;
  }

  /** Until the process ends. */
  async run(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal, log } = this.#options;
    while (!signal.aborted) {
      await sleep(this.isDraining ? DRAIN_POLL_MS : TICK_MS, signal);
      if (signal.aborted) return;
      try {
        await this.#tick();
      } catch (error) {
        // The agent notices a thread that does not answer by its own pulses.
        log.warn('a copying thread does not answer', { error: String(error) });
        if (this.#isDrainLate && !this.#isGiving)
          await this.#options.end(1, this.#drain?.final === true);
      }
    }
  }

  async drain(deadlineMs: number, final: boolean): Promise<void> {
    const { handshakeMs = HANDSHAKE_MS } = this.#options;
    const nowMs = performance.now();
    if (!this.#accepts) await this.#options.threads.setAccepting(false);
    const hasFollower = this.#given !== undefined;
    this.#drain = {
      endsAtMs: nowMs + deadlineMs,
      final: final && !hasFollower,
      acceptsUntilMs: nowMs + Math.min(deadlineMs, handshakeMs),
    };
  }

  async takeOver(from: string): Promise<Answers['take-over']> {
    const { directory, threads, names, log, signal } = this.#options;
    let taken = { pairs: 0, affinities: 0 };
    if (from !== '') {
      const { rest, ...counts } = await takeAll(from, { directory, threads, signal });
      taken = counts;
      this.#earlierCount++;
      rest
        .catch((error: unknown) => {
          if (!signal.aborted) log.warn('late counts were lost', { error: String(error) });
        })
        .finally(() => this.#earlierCount--);
    }
    names.takeOver();
    await this.#accept();
    return taken;
  }

  /** Keeps the socket, for the counts of the last connections. */
  async give(socket: DescriptorSocket): Promise<void> {
    const { directory, threads, log, nowMs, signal } = this.#options;
    const isLate = this.#isGiving || this.#given !== undefined;
    if (isLate) throw new Error('another forwarder takes over already');
    this.#isGiving = true;
    const accepts = this.#accepts;
    try {
      this.#given = await giveAll(socket, { directory, threads, nowMs, accepts, signal });
    } finally {
      this.#isGiving = false;
    }
    // Another forwarder follows, so nothing of the kernel's is deleted.
    this.#drain = { endsAtMs: Number.POSITIVE_INFINITY, final: false, acceptsUntilMs: 0 };
    this.#accepts = false;
    log.info('connections handed over', { pairs: this.#given.pairCount });
  }

  /** Not before it has its rows: connections to a frontend that stays unknown are reset. */
  async #accept(): Promise<void> {
    if (this.#accepts || this.isDraining) return;
    this.#accepts = true;
    await this.#options.threads.setAccepting(true);
  }

  async #tick(): Promise<void> {
    const { directory, threads, end, log } = this.#options;
    // A drain that begins meanwhile is answered first.
    const drain = this.#drain;
    const round = directory.slots.beginRound();
    const openCount = await threads.pulse();
    directory.slots.endRound(round);
    directory.affinity.tick();
    await this.#keepRoutes();
    if (this.#isGiving) return;
    if (drain === undefined) {
      if (this.#drain === undefined && this.#isIdleTooLong(openCount)) {
        log.info('ending: no agent and no connections');
        await end(0, false);
      }
      return;
    }
    if (this.#accepts) {
      if (performance.now() < drain.acceptsUntilMs) return;
      this.#accepts = false;
      // What it accepts last is counted by the next tick.
      await threads.setAccepting(false);
      return;
    }
    if ((openCount > 0 || this.#earlierCount > 0) && !this.#isDrainLate) return;
    if (openCount > 0) log.warn('drain deadline: connections reset', { count: openCount });
    await this.#orWarn('last counts were not handed over', () => this.#given?.finish());
    await end(0, drain.final);
  }

  get #isDrainLate(): boolean {
    return this.#drain !== undefined && performance.now() > this.#drain.endsAtMs;
  }

  async #keepRoutes(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#keptRoutesAtMs < KEEP_ROUTES_MS) return;
    this.#keptRoutesAtMs = nowMs;
    await this.#orWarn('routes for answers cannot be written', this.#options.keepRoutes);
  }

  async #orWarn(warning: string, act: () => Promise<void> | undefined): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#options.log.warn(warning, { error: String(error) });
    }
  }

  #isIdleTooLong(openCount: number): boolean {
    const nowMs = performance.now();
    if (openCount > 0 || this.#options.clientCount() > 0) this.#idleSinceMs = nowMs;
    return nowMs - this.#idleSinceMs > (this.#options.idleMs ?? IDLE_MS);
  }
}
