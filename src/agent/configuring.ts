import type { NodeFacts } from '../dataplanes/contract.ts';
import type { Context } from './context.ts';
import { type Failure, failureOf } from './failure.ts';
import { retryDelayMs } from './retry.ts';

/** Keeps the plane's facts about the node equal to the desired ones. */
export class Configuring {
  readonly #context: Context;
  #applied: NodeFacts | undefined;
  #failing: { attempts: number; retryAtMs: number; failure: Failure } | undefined;
  #sinceMs: number | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** An inspection has brought these facts to the plane. */
  configured(facts: NodeFacts): void {
    this.#applied = facts;
    this.#failing = undefined;
    this.#sinceMs = undefined;
  }

  get failure(): Failure | undefined {
    return this.#failing?.failure;
  }

  /** Since when the plane has other facts than it should. */
  get pendingSinceMs(): number | undefined {
    return this.#isPending() ? (this.#sinceMs ?? this.#context.clock.monotonicMs()) : undefined;
  }

  nextAtMs(): number {
    return this.#isPending() ? (this.#failing?.retryAtMs ?? 0) : Number.POSITIVE_INFINITY;
  }

  async configure(): Promise<void> {
    const { plane, intake, clock, random, log, observers } = this.#context;
    const { facts, settings } = intake;
    this.#sinceMs ??= clock.monotonicMs();
    try {
      await plane.configure(facts);
    } catch (error) {
      const failure = failureOf(error, clock.monotonicMs());
      const attempts = (this.#failing?.attempts ?? 0) + 1;
      const delayMs = retryDelayMs(attempts, { mostMs: settings.syncPeriodMs, random });
      this.#failing = { attempts, failure, retryAtMs: clock.monotonicMs() + delayMs };
      const { code, message } = failure;
      log.error({ code, attempts }, `cannot write node facts to the kernel: ${message}`);
      return;
    }
    this.configured(facts);
    log.debug({ facts }, 'node facts changed');
    observers.tell((observer) => observer.onConfigured?.(facts));
  }

  #isPending(): boolean {
    return this.#applied !== undefined && this.#applied !== this.#context.intake.facts;
  }
}
