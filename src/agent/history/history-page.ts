import type { Clock } from '../../time/clock.ts';
import { datesBy } from '../dates.ts';
import type { History } from './history.ts';
import { awaitsKernel, type Happening, type HistoryEntry, type Settled } from './history-entry.ts';
import { unpack } from './pack.ts';

export interface HistoryRequest {
  /** `namespace/name`: its entries and those of the whole node. Undefined: all. */
  readonly service?: string;
  /** Only what was received within this time. */
  readonly withinMs?: number;
  /** Only what follows this entry. */
  readonly afterSeq?: number;
}

/** An entry with dates, in milliseconds since 1970, and durations by the monotonic clock. */
export interface DatedEntry {
  /** The order; dates may contradict it where the clock was set. */
  readonly seq: number;
  /** Empty: the whole node. */
  readonly service: string;
  /** When this node learned of it. */
  readonly atMs: number;
  readonly ageMs: number;
  readonly what: Happening;
  /** `waiting`: not in the kernel yet. Undefined: the kernel has no part in it. */
  readonly kernel?: Settled | 'waiting';
  /** From the receipt until it was in the kernel, or known not to be needed there. */
  readonly settledAfterMs?: number;
  readonly again?: { readonly count: number; readonly lastAtMs: number };
}

/** Endpoints of a Service at present, as its slices have them; each family counts. */
export interface ServiceNow {
  readonly exists: boolean;
  readonly endpoints: number;
  readonly ready: number;
}

export interface HistoryPage {
  /** Of this run of the agent: another one counts its entries from the beginning. */
  readonly run: string;
  /** Oldest first. */
  readonly entries: readonly DatedEntry[];
  /** Another page follows the last entry of this one. */
  readonly hasMore: boolean;
  /** Of the newest entry, whatever the request. Absent in the answer of an older version. */
  readonly lastSeq?: number;
  /** Of the first entry of this run: those before it are of the run before. Absent: 1. */
  readonly startedSeq?: number;
  /** When this agent began to keep a history. */
  readonly begunAtMs: number;
  /** Everything that was received since then is here, unless it is outside of the request. */
  readonly completeSinceMs: number;
  readonly completeForMs: number;
  /** Entries that had to make room since the start, of all Services. */
  readonly droppedCount: number;
  /** Present if the request names a Service. */
  readonly now?: ServiceNow;
}

/** Entries and bytes of a page: it is rendered in one event loop iteration. */
const PAGE_ENTRIES = 200;
const PAGE_BYTES = 256 * 1024;

export interface HistoryPagesOptions {
  readonly history: Pick<History, 'ring' | 'begunAtMs' | 'run' | 'lastSeq' | 'startedSeq'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  readonly serviceNow: (service: string) => ServiceNow;
}

export function historyPage(request: HistoryRequest, options: HistoryPagesOptions): HistoryPage {
  const { ring, begunAtMs, run } = options.history;
  const nowMs = options.clock.monotonicMs();
  const dateOf = datesBy(options.clock);
  const wanted = wantedEntries(request, { ring, nowMs });
  const entries: DatedEntry[] = [];
  let bytes = 0;
  for (const entry of wanted) {
    if (entries.length >= PAGE_ENTRIES || bytes >= PAGE_BYTES) break;
    entries.push(dated(entry, { nowMs, dateOf }));
    bytes += entry.weight;
  }
  const { service } = request;
  const completeMs = Math.max(begunAtMs, ring.droppedUpToMs(service));
  return {
    run,
    entries,
    hasMore: entries.length < wanted.length,
    lastSeq: options.history.lastSeq,
    startedSeq: options.history.startedSeq,
    begunAtMs: dateOf(begunAtMs),
    completeSinceMs: dateOf(completeMs),
    completeForMs: Math.round(nowMs - completeMs),
    droppedCount: ring.droppedCount,
    ...(service === undefined ? {} : { now: options.serviceNow(service) }),
  };
}

function wantedEntries(
  { service, withinMs, afterSeq = 0 }: HistoryRequest,
  { ring, nowMs }: { readonly ring: History['ring']; readonly nowMs: number },
): readonly HistoryEntry[] {
  const sinceMs = withinMs === undefined ? Number.NEGATIVE_INFINITY : nowMs - withinMs;
  const all = service === undefined ? ring.all() : bySeq(ring.of(service), ring.of(''));
  const found: HistoryEntry[] = [];
  for (const entry of all) {
    const lastAtMs = entry.again?.lastAtMs ?? entry.atMs;
    if (entry.seq > afterSeq && lastAtMs >= sinceMs) found.push(entry);
  }
  return found;
}

/** Merges two lists that are in order. */
function bySeq(a: readonly HistoryEntry[], b: readonly HistoryEntry[]): readonly HistoryEntry[] {
  return [...a, ...b].sort((one, other) => one.seq - other.seq);
}

export function dated(
  entry: HistoryEntry,
  { nowMs, dateOf }: { readonly nowMs: number; readonly dateOf: (atMs: number) => number },
): DatedEntry {
  const { seq, service, atMs, settled, settledAfterMs, again } = entry;
  const what = unpack(entry.text);
  const kernel =
    settled ?? (awaitsKernel(entry) || what.kind === 'repaired' ? 'waiting' : undefined);
  return {
    seq,
    service,
    atMs: dateOf(atMs),
    ageMs: Math.round(nowMs - atMs),
    what,
    ...(kernel === undefined ? {} : { kernel }),
    ...(settledAfterMs === undefined ? {} : { settledAfterMs }),
    ...(again === undefined
      ? {}
      : { again: { count: again.count, lastAtMs: dateOf(again.lastAtMs) } }),
  };
}
