import type { DatedEntry, HistoryPage, HistoryRequest } from '../../agent/history/history-page.ts';

export type ReadHistory = (request: HistoryRequest) => Promise<HistoryPage>;

/** What happened since the last call. */
export interface Fed {
  /** New, settled or repeated, the newest first. */
  readonly entries: readonly DatedEntry[];
  /** Entries that are not among these, because there were too many. */
  readonly leftOut: number;
  /** Another run of the agent than the last time. */
  readonly isRestarted: boolean;
}

/** Every entry is read twice: one that comes while a page is rendered must not be lost. */
const OVERLAP_MS = 2_000;
/** Of more entries than fit a page the oldest are read, and so many of the newest. */
const NEWEST = 200;
/** An entry that the kernel has not got is asked for again for so long. */
const MOST_WAITING_MS = 60_000;

/**
 * Follows the history of the agent. Asks by time and not by number: what happens again is counted in
 * the entry that it has.
 */
export class ChangeFeed {
  readonly #read: ReadHistory;
  readonly #monotonicMs: () => number;
  #run: string | undefined;
  #lastSeq = 0;
  #askedAtMs: number | undefined;
  /** What was told of recent entries, by their number. */
  #told = new Map<number, string>();

  constructor(read: ReadHistory, monotonicMs: () => number) {
    this.#read = read;
    this.#monotonicMs = monotonicMs;
  }

  /** The first call only notes where the history is. */
  async poll(): Promise<Fed> {
    const nowMs = this.#monotonicMs();
    const sinceMs = nowMs - (this.#askedAtMs ?? nowMs);
    const pages = await this.#pages(Math.max(sinceMs + OVERLAP_MS, this.#waitingMs(nowMs)));
    const [first] = pages;
    this.#askedAtMs = nowMs;
    if (first === undefined) return NOTHING;
    if (first.run !== this.#run) return this.#begin(pages);
    const entries = pages.flatMap((page) => page.entries);
    const fresh = entries.filter((entry) => this.#told.get(entry.seq) !== signOf(entry));
    const newCount = (first.lastSeq ?? 0) - this.#lastSeq;
    const foundCount = fresh.filter(({ seq }) => seq > this.#lastSeq).length;
    this.#note(entries, first.lastSeq);
    return {
      entries: fresh.toReversed(),
      leftOut: Math.max(0, newCount - foundCount),
      isRestarted: false,
    };
  }

  #begin(pages: readonly HistoryPage[]): Fed {
    const isRestarted = this.#run !== undefined;
    this.#run = pages[0]?.run;
    this.#told.clear();
    const entries = pages.flatMap((page) => page.entries);
    this.#note(entries, pages[0]?.lastSeq);
    return isRestarted
      ? { entries: entries.toReversed(), leftOut: 0, isRestarted }
      : { ...NOTHING, isRestarted };
  }

  #note(entries: readonly DatedEntry[], lastSeq: number | undefined): void {
    this.#told = new Map(entries.map((entry) => [entry.seq, signOf(entry)]));
    this.#lastSeq = lastSeq ?? entries.at(-1)?.seq ?? this.#lastSeq;
    this.#waiting = new Map(
      entries
        .filter(({ kernel, ageMs }) => kernel === 'waiting' && ageMs < MOST_WAITING_MS)
        .map(({ seq, ageMs }) => [seq, this.#monotonicMs() - ageMs]),
    );
  }

  #waiting: ReadonlyMap<number, number> = new Map();

  /** How far back the oldest entry is that the kernel may have meanwhile. */
  #waitingMs(nowMs: number): number {
    const oldestMs = Math.min(...this.#waiting.values());
    return Number.isFinite(oldestMs) ? nowMs - oldestMs + OVERLAP_MS : 0;
  }

  async #pages(withinMs: number): Promise<readonly HistoryPage[]> {
    const first = await this.#read({ withinMs });
    const readUpTo = first.entries.at(-1)?.seq;
    if (!first.hasMore || readUpTo === undefined) return [first];
    // Each entry costs the agent: of a storm the page shows a few, and the number of the others.
    const afterSeq = Math.max(readUpTo, (first.lastSeq ?? 0) - NEWEST);
    const last = await this.#read({ withinMs, afterSeq });
    return last.run === first.run ? [first, last] : [first];
  }
}

const NOTHING: Fed = { entries: [], leftOut: 0, isRestarted: false };

/** Differs where there is something new to tell of an entry. */
function signOf({ kernel, again }: DatedEntry): string {
  return `${kernel ?? ''} ${again?.count ?? 0}`;
}
