import { randomUUID } from 'node:crypto';
import type { Drift, NodeFacts } from '../../dataplanes/contract.ts';
import type { Clock } from '../../time/clock.ts';
import type { AgentObserver, InspectionReport, StepFailure } from '../observer.ts';
import { happeningsOf, type ObjectChange } from './happenings.ts';
import {
  awaitsKernel,
  type Happening,
  type HistoryEntry,
  type SavedEntry,
  type Settled,
} from './history-entry.ts';
import { bytesOf, pack, unpack } from './pack.ts';
import { HistoryRing, type RingLimits } from './ring.ts';
import { namesOf, shortened } from './some-names.ts';

export interface HistoryOptions {
  readonly mode: string;
  /** Of Fairlead. */
  readonly version: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The settings of the node that the plane has; read once, at the first sync. */
  readonly facts?: () => NodeFacts;
  readonly limits?: RingLimits;
  /** Of the run before; the oldest first, on the monotonic clock. */
  readonly past?: readonly SavedEntry[];
}

type FlowsHappening = Extract<Happening, { kind: 'flows' }>;

/** Deleted conntrack entries of one service port and endpoint. */
export interface EndedFlows {
  /** `namespace/name`. */
  readonly service: string;
  readonly reason: string;
  readonly endpoint: string;
  readonly count: number;
}

/** A changed field of the configuration file. */
export interface ChangedField {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly inForce: 'now' | 'after a restart';
}

const LIMITS: RingLimits = { entries: 10_000, bytes: 5 * 1024 * 1024 };
/** What happens again within this time is counted in the entry that it has. */
const AGAIN_WITHIN_MS = 60_000;
/** A change by another process and its repair alternate. */
const RECENT = 4;
/** Flows that end together are one entry. */
const FLOWS_WITHIN_MS = 1_000;
const MOST_OPEN_FLOWS = 256;
/** An entry without its text, with its places in the ring. */
const ENTRY_BYTES = 290;
const MOST_NAMED = 16;
const LONGEST_TEXT = 300;
const MOST_WAITING = 64;

/** What this node learned and did, newest last, in a bounded room. */
export class History {
  readonly #options: HistoryOptions;
  readonly #ring: HistoryRing;
  readonly #begunAtMs: number;
  #seq = 0;
  #changeCount = 0;
  readonly #startedSeq: number;
  #facts: NodeFacts | undefined;
  /** Entries that ended flows of the last second are added to, by Service and reason. */
  readonly #flows = new Map<string, { readonly entry: HistoryEntry; what: FlowsHappening }>();
  /** Repairs whose rows are not written yet, and when they were needed. */
  readonly #repairs = new Map<HistoryEntry, number>();
  /** Differences that an inspection found and could not repair, and since when. */
  readonly #unrepaired = new Map<HistoryEntry, number>();
  /** The first external change that no inspection has followed yet. */
  #disturbedAtMs: number | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#ring = new HistoryRing(options.limits ?? LIMITS);
    this.#begunAtMs = options.clock.monotonicMs();
    const { mode, version, past = [] } = options;
    for (const entry of past) this.#push(entry);
    const continues = past.length > 0;
    this.#startedSeq = this.#seq + 1;
    this.#note('', { kind: 'started', mode, version, ...(continues ? { continues } : {}) });
  }

  /** Differs for every run of the agent. */
  readonly run = randomUUID();

  /** Of the entry that this run began with. */
  get startedSeq(): number {
    return this.#startedSeq;
  }

  /** Rises with everything that a reader would see. */
  get changeCount(): number {
    return this.#changeCount;
  }

  /** Of the newest entry. */
  get lastSeq(): number {
    return this.#seq;
  }

  /** On the monotonic clock. */
  get begunAtMs(): number {
    return this.#begunAtMs;
  }

  get ring(): Pick<
    HistoryRing,
    'all' | 'of' | 'droppedUpToMs' | 'droppedCount' | 'size' | 'weight'
  > {
    return this.#ring;
  }

  readonly observer: AgentObserver = {
    onObjectChanged: (change, atMs) => this.#objectChanged(change, atMs),
    onAcknowledged: ({ propagations, atMs }) => {
      for (const each of propagations) this.#settle(each, { settled: 'kernel', atMs });
    },
    onUnneeded: (all) => {
      const atMs = this.#nowMs();
      for (const each of all) this.#settle(each, { settled: 'unneeded', atMs });
    },
    onFirstSync: () => this.#firstSync(),
    onStep: ({ pendingCount, failedCount }) => {
      if (pendingCount <= failedCount) this.#repaired(this.#repairs);
    },
    onStepFailed: (failure) => this.#rejected(failure),
    onDrift: (drift) => this.#drift(drift),
    onInspected: (report) => this.#inspected(report),
    onConfigured: (facts) => this.#configured(facts),
    onCondition: (name, isTrue) => {
      // At the start nothing is true yet.
      if (TOLD_CONDITIONS.has(name)) this.#note('', { kind: 'condition', name, isTrue });
    },
  };

  flowsEnded({ service, reason, endpoint, count }: EndedFlows): void {
    const nowMs = this.#nowMs();
    const key = `${service} ${reason}`;
    const known = this.#flows.get(key);
    if (known === undefined || nowMs - known.entry.atMs > FLOWS_WITHIN_MS) {
      const what = { kind: 'flows', reason, count, endpoints: namesOf([endpoint], 1) } as const;
      if (this.#flows.size >= MOST_OPEN_FLOWS) this.#flows.clear();
      this.#flows.set(key, { entry: this.#note(service, what, nowMs), what });
      return;
    }
    known.what = withFlows(known.what, { endpoint, count });
    this.#rewrite(known.entry, known.what);
  }

  configurationChanged({ field, before, after, inForce }: ChangedField): void {
    const [was, is] = [before, after].map((value) =>
      shortened(JSON.stringify(value) ?? '', LONGEST_TEXT),
    );
    const values = { before: was ?? '', after: is ?? '' };
    this.#noteOnce('', { kind: 'configuration', field, ...values, inForce });
  }

  #objectChanged(change: ObjectChange, atMs: number): void {
    for (const { service, what } of happeningsOf(change)) this.#note(service, what, atMs);
  }

  #drift({ what, by, isOwn }: Drift): void {
    this.#disturbedAtMs ??= this.#nowMs();
    this.#noteOnce('', {
      kind: 'drift',
      what: shortened(what, LONGEST_TEXT),
      isOwn: isOwn === true,
      ...(by === undefined ? {} : { by }),
    });
  }

  #inspected(report: InspectionReport): void {
    const { reason, differences, differenceCount, wrongCount, writeCount } = report;
    const sinceMs = this.#disturbedAtMs ?? report.atMs - report.durationMs;
    this.#disturbedAtMs = undefined;
    if (writeCount > 0 || differenceCount === 0) this.#repaired(this.#unrepaired);
    if (reason === 'start' || (differenceCount === 0 && wrongCount === 0 && writeCount === 0))
      return;
    const objects = differences
      .slice(0, MOST_NAMED)
      .map(({ kind, object }) => `${kind}: ${object}`);
    const services = new Set(differences.flatMap(({ service }) => service ?? []));
    const entry = this.#noteOnce('', {
      kind: 'repaired',
      reason,
      wrongRows: wrongCount,
      differences: { ...namesOf(objects, MOST_NAMED), count: differenceCount },
      services: [...services].slice(0, MOST_NAMED),
    });
    entry.settled = undefined;
    const waiting = wrongCount === 0 && writeCount === 0 ? this.#unrepaired : this.#repairs;
    if (!waiting.has(entry) && waiting.size < MOST_WAITING) waiting.set(entry, sinceMs);
    if (wrongCount === 0) this.#repaired(this.#repairs);
  }

  #repaired(waiting: Map<HistoryEntry, number>): void {
    const atMs = this.#nowMs();
    for (const [entry, sinceMs] of waiting) {
      this.#mark(entry, { settled: 'kernel', atMs, sinceMs });
    }
    waiting.clear();
  }

  #rejected({ scope, services, rowCount, code, message }: StepFailure): void {
    const isAll = scope === 'plane';
    const text = shortened(message, LONGEST_TEXT);
    const what = { kind: 'rejected', rows: rowCount, code, message: text, isAll } as const;
    for (const service of isAll ? [''] : services) this.#noteOnce(service, what);
  }

  #configured(facts: NodeFacts): void {
    const before = this.#facts;
    this.#facts = facts;
    if (before === undefined) return;
    const names = new Set([...Object.keys(before), ...Object.keys(facts)]) as Set<keyof NodeFacts>;
    const isOther = (name: keyof NodeFacts): boolean =>
      JSON.stringify(before[name]) !== JSON.stringify(facts[name]);
    const fields = [...names].filter(isOther);
    if (fields.length > 0) this.#note('', { kind: 'node settings', fields });
  }

  /** What came before it is in the kernel, or is not needed there. */
  #firstSync(): void {
    const atMs = this.#nowMs();
    for (const entry of this.#ring.all()) {
      if (awaitsKernel(entry) && entry.settled === undefined) {
        this.#mark(entry, { settled: 'kernel', atMs });
      }
    }
    this.#facts ??= this.#options.facts?.();
    this.#note('', { kind: 'first sync' });
  }

  #settle(
    at: { service: string; receivedAtMs: number; lastReceivedAtMs: number },
    how: { settled: Settled; atMs: number },
  ): void {
    const entries = this.#ring.of(at.service);
    for (let index = entries.length - 1; index >= 0; index--) {
      const entry = entries[index];
      if (entry === undefined || entry.atMs < at.receivedAtMs) return;
      if (entry.atMs > at.lastReceivedAtMs) continue;
      if (awaitsKernel(entry) && entry.settled === undefined) this.#mark(entry, how);
    }
  }

  #mark(
    entry: HistoryEntry,
    { settled, atMs, sinceMs = entry.atMs }: { settled: Settled; atMs: number; sinceMs?: number },
  ): void {
    this.#changeCount++;
    entry.settled = settled;
    entry.settledAfterMs = Math.max(entry.settledAfterMs ?? 0, atMs - sinceMs);
  }

  /** Counts it in an entry that says the same, if one of the last does. */
  #noteOnce(service: string, what: Happening): HistoryEntry {
    const nowMs = this.#nowMs();
    const text = textWithoutPid(what);
    const same = this.#ring
      .of(service)
      .slice(-RECENT)
      .find((entry) => {
        const isRecent = nowMs - (entry.again?.lastAtMs ?? entry.atMs) <= AGAIN_WITHIN_MS;
        if (!isRecent || entry.seq < this.#startedSeq || entry.kind !== what.kind) return false;
        return textWithoutPid(unpack(entry.text)) === text;
      });
    if (same === undefined) return this.#note(service, what, nowMs);
    this.#changeCount++;
    same.again = { count: (same.again?.count ?? 0) + 1, lastAtMs: nowMs };
    return same;
  }

  #note(service: string, what: Happening, atMs = this.#nowMs()): HistoryEntry {
    const none = { settled: undefined, settledAfterMs: undefined, again: undefined };
    return this.#push({ service, atMs, kind: what.kind, text: pack(what), ...none });
  }

  #push({ service, atMs, kind, text, settled, settledAfterMs, again }: SavedEntry): HistoryEntry {
    const seq = ++this.#seq;
    this.#changeCount++;
    const weight = ENTRY_BYTES + bytesOf(text);
    // All fields at once: entries of one shape take less memory.
    const entry: HistoryEntry = {
      seq,
      service,
      atMs,
      kind,
      text,
      settled,
      settledAfterMs,
      again,
      weight,
    };
    this.#ring.push(entry);
    return entry;
  }

  #rewrite(entry: HistoryEntry, what: Happening): void {
    const before = bytesOf(entry.text);
    entry.text = pack(what);
    this.#changeCount++;
    this.#ring.grew(entry, bytesOf(entry.text) - before);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** The API server, the kernel's events, and changes that do not reach the kernel. */
const TOLD_CONDITIONS: ReadonlySet<string> = new Set([
  'apiFresh',
  'watching',
  'timely.IPv4',
  'timely.IPv6',
]);

/** A program that is started again has another process id, and does the same. */
function textWithoutPid(what: Happening): string {
  return JSON.stringify(what.kind === 'drift' ? { ...what, by: what.by?.program } : what);
}

function withFlows(
  what: FlowsHappening,
  { endpoint, count }: Pick<EndedFlows, 'endpoint' | 'count'>,
): FlowsHappening {
  const { first, count: known } = what.endpoints;
  const total = what.count + count;
  if (first.includes(endpoint)) return { ...what, count: total };
  const named = first.length < MOST_NAMED ? [...first, endpoint] : first;
  return { ...what, count: total, endpoints: { first: named, count: known + 1 } };
}
