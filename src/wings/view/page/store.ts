import type { Change } from '../protocol/changes-answer.ts';
import type { Problem } from '../protocol/common.ts';
import type { NodeAbout } from '../protocol/node-hello.ts';
import type { Hello, PastPoint, ViewTick } from '../protocol/tick.ts';
import { DotField } from './dot-field.ts';

/** Ticks that the small lines show. */
const MOST_POINTS = 180;
const MOST_CHANGES = 40;

export type Link =
  | { readonly is: 'connecting' }
  | { readonly is: 'open' }
  /** `retryAtMs` by `performance.now()`. */
  | { readonly is: 'broken'; readonly retryAtMs: number; readonly attempts: number };

/** What the page knows: filled by the stream, read by the screens. */
export class Store {
  readonly dots = new DotField();
  readonly #listeners = new Set<() => void>();
  about: NodeAbout | undefined;
  tick: ViewTick | undefined;
  /** By `performance.now()`. */
  tickedAtMs: number | undefined;
  past: PastPoint[] = [];
  /** Newest first. */
  changes: Change[] = [];
  link: Link = { is: 'connecting' };
  /** The agent does not answer the server. */
  trouble: Problem | undefined;
  /** Of the doctor, once it was asked. */
  problemCount: number | undefined;

  listen(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  hello({ about, past, changes }: Hello): void {
    const isOtherAgent = this.about !== undefined && this.about.startedAtMs !== about.startedAtMs;
    if (isOtherAgent) this.changes = [];
    this.about = about;
    this.past = past.slice(-MOST_POINTS);
    this.changes = mergeChanges(changes, this.changes);
    this.trouble = undefined;
    this.tell();
  }

  addTick(tick: ViewTick, nowMs: number): void {
    const { atMs, totals, propagation } = tick;
    const { newPerSecond, rejectedPerSecond, droppedPerSecond } = totals;
    this.tick = tick;
    this.tickedAtMs = nowMs;
    this.trouble = undefined;
    this.past.push({
      atMs,
      ...(newPerSecond === undefined ? {} : { newPerSecond }),
      ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond }),
      ...(droppedPerSecond === undefined ? {} : { droppedPerSecond }),
      ...(propagation === undefined ? {} : { p50Ms: propagation.p50Ms }),
    });
    if (this.past.length > MOST_POINTS) this.past.shift();
    if (tick.changes.length > 0) this.changes = mergeChanges(tick.changes, this.changes);
    this.dots.change(tick.dots);
    this.tell();
  }

  setTrouble(problem: Problem): void {
    this.trouble = problem;
    this.tell();
  }

  setLink(link: Link): void {
    this.link = link;
    this.tell();
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** An entry that settled replaces what was known of it. */
function mergeChanges(newer: readonly Change[], older: readonly Change[]): Change[] {
  const bySeq = new Map([...older, ...newer].map((change) => [change.seq, change]));
  return [...bySeq.values()].sort((a, b) => b.seq - a.seq).slice(0, MOST_CHANGES);
}
