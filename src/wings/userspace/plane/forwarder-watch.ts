import type { Drift } from '../../../dataplanes/contract.ts';
import { systemClock } from '../../../time/clock.ts';
import { Wake } from '../../../time/wake.ts';
import type { Pulse } from './forwarder-protocol.ts';
import type { HandOver } from './hand-to-forwarder.ts';
import type { ForwarderKeeper } from './keeper.ts';
import { ANSWER_MS, type RunningForwarder } from './running.ts';

const EVERY_MS = 1000;

export interface Watched {
  readonly keeper: ForwarderKeeper;
  readonly handOver: HandOver;
  /** Whether the forwarder has every row. Otherwise an inspection is under way or wanted. */
  readonly isFilled: () => boolean;
  /** Connections go to the kernel, and the next inspection looks at everything. */
  readonly distrust: (why: string) => Promise<void>;
  /** What nftables does not keep alive itself, such as the route to the listeners. */
  readonly refresh: () => Promise<void>;
}

/**
 * Asks the forwarder for its pulse every second, and hands connections over for as long as it
 * answers. Requests an inspection when it does not, and when it answers again.
 */
export class ForwarderWatch {
  readonly #of: Watched;
  readonly #onDrift: (drift: Drift) => void;
  readonly #wake = new Wake();
  /** The one whose end wakes us. */
  #met: RunningForwarder | undefined;
  /** The one that does not answer, as was reported. */
  #silent: RunningForwarder | undefined;
  #cannotRefresh = false;
  /** The end for which an inspection was requested already. */
  #reportedEndMs = Number.NEGATIVE_INFINITY;

  constructor(watched: Watched, onDrift: (drift: Drift) => void) {
    this.#of = watched;
    this.#onDrift = onDrift;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begunMs = performance.now();
      const running = this.#of.keeper.current;
      if (running === undefined) this.#askForAnother();
      else await this.#beat(running);
      await this.#rest(begunMs + EVERY_MS - performance.now(), signal);
    }
  }

  /** Ends early when the forwarder does. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const running = this.#of.keeper.current;
    if (running !== undefined && running !== this.#met) {
      this.#met = running;
      void running.work.ended.then(() => this.#wake.call());
    }
    if (ms > 0) await this.#wake.wait(signal, { ms, clock: systemClock });
  }

  async #beat(running: RunningForwarder): Promise<void> {
    const { keeper, handOver } = this.#of;
    let pulse: Pulse;
    try {
      pulse = await running.pulse.ask<'pulse'>({ do: 'pulse' }, ANSWER_MS);
    } catch (error) {
      // It was replaced meanwhile.
      if (keeper.current !== running) return;
      await this.#missed(running, error);
      return;
    }
    if (keeper.current !== running) return;
    keeper.silence.end();
    if (this.#silent === running) {
      this.#silent = undefined;
      this.#onDrift({
        what: `the forwarder (pid ${running.hello.pid}) did not answer for a while`,
        isOwn: true,
      });
    }
    if (!this.#of.isFilled()) return;
    if (pulse.isDraining) await this.#replace(running);
    else if (pulse.accepts) await this.#handOver(running);
    else await handOver.off('it is full');
  }

  /** Another process told it to end. One that takes over in time saves its connections. */
  async #replace({ hello }: RunningForwarder): Promise<void> {
    await this.#of.distrust('it is draining');
    this.#onDrift({
      what: `the forwarder (pid ${hello.pid}) received a request to end`,
      isOwn: true,
    });
  }

  async #handOver(running: RunningForwarder): Promise<void> {
    try {
      await this.#of.refresh();
      await this.#of.handOver.on(running.hello.ports);
      this.#cannotRefresh = false;
    } catch (error) {
      // The kernel deletes the elements by itself, so this costs no connection.
      if (!this.#cannotRefresh) {
        this.#onDrift({ what: `connections cannot be handed over: ${String(error)}`, isOwn: true });
      }
      this.#cannotRefresh = true;
    }
  }

  async #missed(running: RunningForwarder, error: unknown): Promise<void> {
    const { keeper, handOver } = this.#of;
    const { pid } = running.hello;
    if (!running.pulse.isOpen || !running.work.isOpen) {
      keeper.noteEnd(running);
      await handOver.off('it ended');
      this.#askForAnother();
      return;
    }
    keeper.silence.note();
    await handOver.off(error instanceof Error ? error.message : String(error));
    if (this.#silent !== running || keeper.silence.isOver) {
      this.#onDrift({ what: `the forwarder (pid ${pid}) does not answer`, isOwn: true });
    }
    this.#silent = running;
  }

  /** Once for each end, and not before its time. */
  #askForAnother(): void {
    const { restarts, whyNone } = this.#of.keeper;
    const { retryAtMs } = restarts;
    if (performance.now() < retryAtMs || this.#reportedEndMs === retryAtMs) return;
    this.#reportedEndMs = retryAtMs;
    this.#onDrift({ what: whyNone, isOwn: true });
  }
}
