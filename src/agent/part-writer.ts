import type { Context } from './context.ts';
import { type Failure, failureOf, isUnknownAfter } from './failure.ts';
import type { StepLimits } from './fair-queue.ts';
import { acknowledgedChange } from './outstanding-entry.ts';
import type { PartTask } from './write-plan.ts';

export type PartResult =
  | { readonly state: 'unfinished' | 'finished' }
  | { readonly state: 'failed'; readonly failure: Failure };

/** Writes changes that are too large to share a transaction, one part in each call. */
export class PartWriter {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** After a rejected part a row is `unknown`; the caller notes the failure. */
  async write(task: PartTask, { objects }: StepLimits): Promise<PartResult> {
    const { outstanding, clock } = this.#context;
    const { entry, objectCount } = task;
    const isLarge = objectCount > objects;
    if (isLarge && entry.parts === undefined) outstanding.beginParts(entry, task);
    const begunMs = clock.monotonicMs();
    try {
      const state = await this.#apply(task, isLarge);
      if (isLarge) this.#partWritten(task, state);
      if (state === 'finished') this.#finished(task, clock.monotonicMs() - begunMs);
      return { state };
    } catch (error) {
      if (isLarge || isUnknownAfter(error, entry)) outstanding.doubt(entry, task.change.after);
      return { state: 'failed', failure: failureOf(error, clock.monotonicMs()) };
    }
  }

  async #apply({ change }: PartTask, isLarge: boolean): Promise<'unfinished' | 'finished'> {
    const { plane } = this.#context;
    if (isLarge && plane.applyPart !== undefined) return await plane.applyPart(change);
    await plane.apply([change]);
    return 'finished';
  }

  #partWritten({ entry }: PartTask, state: 'unfinished' | 'finished'): void {
    const { outstanding, observers } = this.#context;
    outstanding.partWritten(entry);
    const { parts, id } = entry;
    if (parts === undefined) return;
    const { writtenCount, objectCount, begunAtMs, lastAtMs } = parts;
    const elapsedMs = lastAtMs - begunAtMs;
    const isFinished = state === 'finished';
    const report = { id, writtenCount, objectCount, elapsedMs, isFinished };
    observers.tell((observer) => observer.onPart?.(report));
  }

  /** The change that was started is in the kernel; the desired state may have changed since. */
  #finished({ entry, change }: PartTask, durationMs: number): void {
    const { outstanding, propagations, observers, clock } = this.#context;
    const atMs = clock.monotonicMs();
    const isDesired = outstanding.written(entry, change.after, atMs);
    const ended = isDesired ? propagations.acknowledged([entry], atMs) : [];
    const acknowledged = {
      changes: [acknowledgedChange(change, entry)],
      atMs,
      durationMs,
      propagations: ended,
    };
    observers.tell((observer) => observer.onAcknowledged?.(acknowledged));
  }
}
