import type { GroupedBy } from '../../commands/groupings.ts';
import type { FrontendOwners } from '../../flows/owners.ts';
import type { ServicePortKey, SourceClass } from '../../forwarding/model.ts';
import type { AddressBytes } from '../../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import { candidatesOf } from './busy-candidates.ts';
import type { ClassOf } from './client-class.ts';
import { EndpointRates, SHARE_WINDOW_MS } from './endpoint-rates.ts';
import { EventTap, type Heard, type Listen } from './event-tap.ts';
import { type Limits, notesOf } from './notes.ts';
import { Rest } from './read-pause.ts';
import { RejectedRates } from './rejected-rates.ts';
import { ownersOf } from './served-owners.ts';
import { sweep } from './sweep.ts';
import { Tally } from './tally.ts';
import type { SourceStates, Tick } from './traffic-figures.ts';
import { clientRows, endpointRows, type Gathered, serviceRows, totalsOf } from './traffic-rows.ts';
import type { AgentSource } from './traffic-sources.ts';

export interface WatchOptions {
  readonly agent: Omit<AgentSource, 'servedOf'>;
  readonly conntrack: Pick<Conntrack, 'flows'>;
  readonly listen: Listen;
  readonly mode: string;
  /** Source classes whose connections have no conntrack entry in this mode. */
  readonly unseenSources: readonly SourceClass[];
  /** Whether conntrack tells of every flow of the other ones. */
  readonly hearsClients: boolean;
  /** Where conntrack entries lead that only hand a connection over to a process. */
  readonly handedOverTo: ReadonlySet<AddressBytes>;
  readonly classOf: ClassOf;
  readonly monotonicMs: () => number;
  /** New flows that may be read in one tick. */
  readonly mostEvents: number;
  /** Service ports whose counters are read although they may not be busy. */
  readonly alsoRead?: () => readonly ServicePortKey[];
  readonly signal: AbortSignal;
}

/** Everything that was read until the end of a tick, before it is put into rows. */
export interface Reading {
  /** Counts from 1. */
  readonly tick: number;
  readonly gathered: Gathered;
  /** Every service port. */
  readonly known: number;
  readonly sources: SourceStates;
  readonly limits: Omit<Limits, 'by'>;
}

/** Which Services there are is asked again so often, like a sweep of a large table. */
const SELDOM_MS = 30_000;
/** A sweep of more entries than these is made at most that often, whatever it costs. */
const LARGE_SWEEP = 20_000;

/** The state of one `fairlead top`: each tick reads what is due, and gives all figures. */
export class TrafficWatch {
  readonly #options: WatchOptions;
  readonly #tap: EventTap;
  readonly #rests = {
    served: new Rest(),
    /** Of reading them before it is time. */
    servedEarly: new Rest(),
    sweep: new Rest(),
    counts: new Rest(),
    rejected: new Rest(),
    totals: new Rest(),
  };
  readonly #rates = new EndpointRates();
  readonly #rejected = new RejectedRates();
  #keys: ReadonlySet<ServicePortKey> = new Set();
  /** Whose counters were wanted last. */
  #measured: readonly ServicePortKey[] = [];
  #owners: FrontendOwners = ownersOf([]);
  #servedVersion: string | undefined;
  #heard: Tally;
  #live: Tally | undefined;
  #totals: ReadonlyMap<ServicePortKey, number> | undefined;
  #newInTotals: ReadonlyMap<ServicePortKey, number> = new Map();
  #isRejectedKnown = true;
  #leftOutCount = 0;
  #eventProblem: unknown;
  #hasNewServices = false;
  #tickCount = 0;
  #lastTickMs: number | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#heard = this.#newTally();
    this.#tap = new EventTap({
      listen: options.listen,
      onFlow: (flow) => this.#heard.add(flow),
      most: options.mostEvents,
      onProblem: (error) => {
        this.#eventProblem = error;
      },
    });
  }

  /** Reads which Services there are, before everything else. */
  async readServices(): Promise<void> {
    await this.#readServed();
  }

  /** Reads everything once, so that the first tick has something to compare with. */
  async begin(): Promise<void> {
    const isKnown = this.#rests.served.ageSeconds(this.#options.monotonicMs()) !== undefined;
    if (!isKnown) await this.#readServed();
    this.#heard = this.#newTally();
    this.#tap.open(this.#options.signal);
    await this.#readAll(this.#heard);
    this.#lastTickMs = this.#options.monotonicMs();
  }

  /** The figures of the time since the last tick. */
  async tick(by: GroupedBy, most: number): Promise<Tick> {
    return this.#tickOf(await this.read(), by, most);
  }

  /** There are Services that it does not know: they are read as soon as that is cheap enough. */
  expectNewServices(): void {
    this.#hasNewServices = true;
  }

  /** What a tick is made of. */
  async read(): Promise<Reading> {
    const { monotonicMs, signal } = this.#options;
    const seconds = (monotonicMs() - (this.#lastTickMs ?? monotonicMs())) / 1000;
    const heard = this.#tap.take(signal);
    const tally = this.#heard;
    this.#heard = this.#newTally();
    this.#lastTickMs = monotonicMs();
    this.#tickCount += 1;
    if (this.#isServedDue) await this.#readServed();
    await this.#readAll(tally);
    return this.#readingOf({ seconds, heard, tally });
  }

  get #isServedDue(): boolean {
    const nowMs = this.#options.monotonicMs();
    const { served, servedEarly } = this.#rests;
    return served.isOver(nowMs) || (this.#hasNewServices && servedEarly.isOver(nowMs));
  }

  async #readAll(tally: Tally): Promise<void> {
    await this.#sweep();
    await this.#readRejected();
    await this.#readTotals();
    this.#measured = this.#candidates(tally);
    await this.#readCounts(this.#measured);
  }

  async #readServed(): Promise<void> {
    const startedAtMs = this.#options.monotonicMs();
    this.#hasNewServices = false;
    const served = await this.#options.agent.served(this.#servedVersion);
    if (served !== undefined) {
      this.#keys = new Set(served.ports.map(([key]) => key));
      this.#owners = ownersOf(served.ports);
      this.#servedVersion = served.version;
    }
    const nowMs = this.#options.monotonicMs();
    this.#rests.served.begin(nowMs, { costMs: nowMs - startedAtMs, leastMs: SELDOM_MS });
    this.#rests.servedEarly.begin(nowMs, { costMs: nowMs - startedAtMs });
  }

  async #sweep(): Promise<void> {
    const { conntrack, monotonicMs, signal } = this.#options;
    const startedAtMs = monotonicMs();
    if (!this.#isLiveKnown || !this.#rests.sweep.isOver(startedAtMs)) return;
    const tally = this.#newTally();
    await sweep(conntrack, { owners: this.#owners, tally }, signal);
    this.#live = tally;
    const nowMs = monotonicMs();
    const leastMs = tally.count > LARGE_SWEEP ? SELDOM_MS : 0;
    this.#rests.sweep.begin(nowMs, { costMs: nowMs - startedAtMs, leastMs });
  }

  async #readRejected(): Promise<void> {
    const { agent, monotonicMs } = this.#options;
    if (!this.#isRejectedKnown || !this.#rests.rejected.isOver(monotonicMs())) return;
    const { tookMs, value } = await agent.rejected();
    this.#rests.rejected.begin(monotonicMs(), { costMs: tookMs });
    this.#isRejectedKnown = value !== undefined;
    if (value) this.#rejected.take(value, monotonicMs());
  }

  async #readTotals(): Promise<void> {
    const { agent, monotonicMs, unseenSources } = this.#options;
    if (unseenSources.length === 0 || !this.#rests.totals.isOver(monotonicMs())) return;
    const { tookMs, value } = await agent.totals();
    this.#rests.totals.begin(monotonicMs(), { costMs: tookMs });
    const before = this.#totals;
    this.#totals = value;
    if (!before || !value) return;
    const added = [...value].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const);
    this.#newInTotals = new Map(added.filter(([, count]) => count > 0));
  }

  async #readCounts(keys: readonly ServicePortKey[]): Promise<void> {
    const { agent, monotonicMs } = this.#options;
    if (keys.length === 0 || !this.#rests.counts.isOver(monotonicMs())) return;
    const { tookMs, value } = await agent.counts(keys);
    this.#rests.counts.begin(monotonicMs(), { costMs: tookMs });
    this.#rates.take(value, monotonicMs());
    this.#leftOutCount = value.leftOut.length;
  }

  #candidates(tally: Tally): readonly ServicePortKey[] {
    const busiest = candidatesOf({
      keys: this.#keys,
      heard: tally.services(),
      newInTotals: this.#newInTotals,
      rejected: this.#rejected.all() ?? new Map(),
      live: this.#live?.services() ?? new Map(),
    });
    const also = this.#options.alsoRead?.() ?? [];
    return also.length === 0 ? busiest : [...new Set([...busiest, ...also])];
  }

  #readingOf({ seconds, heard, tally }: TickEnd): Reading {
    const rejected = this.#isRejectedKnown ? this.#rejected.all() : undefined;
    return {
      tick: this.#tickCount,
      gathered: {
        keys: this.#measured,
        seconds,
        isComplete: heard.isComplete,
        unseenSources: this.#options.unseenSources,
        hearsClients: this.#options.hearsClients,
        seesAll: this.#options.unseenSources.length === 0,
        heard: tally,
        live: this.#live,
        rejected,
        rates: this.#rates,
        classOf: this.#options.classOf,
      },
      known: this.#keys.size,
      sources: this.#sources(heard, rejected !== undefined),
      limits: {
        events: stateOf(heard),
        problem: this.#eventProblem,
        unseenSources: this.#options.unseenSources,
        hearsClients: this.#options.hearsClients,
        isRejectedKnown: this.#isRejectedKnown,
        leftOutCount: this.#leftOutCount,
        hasMoreClients: tally.hasMoreClients || this.#live?.hasMoreClients === true,
      },
    };
  }

  #tickOf(reading: Reading, by: GroupedBy, most: number): Tick {
    const { tick, gathered, known, sources, limits } = reading;
    const { seconds, keys, live } = gathered;
    const services = serviceRows(gathered);
    const rows = by === 'service' ? services : ROWS[by](gathered);
    return {
      tick,
      mode: this.#options.mode,
      by,
      seconds,
      totals: totalsOf(services, { measured: keys.length, known, live }),
      rows: rows.slice(0, most) as Tick['rows'],
      more: Math.max(0, rows.length - most),
      sources,
      notes: notesOf({ by, ...limits }),
    };
  }

  #sources(heard: Heard, isRejectedRead: boolean): SourceStates {
    const nowMs = this.#options.monotonicMs();
    const { counts, sweep: swept, rejected } = this.#rests;
    const age = (rest: Rest) => round(rest.ageSeconds(nowMs) ?? 0);
    return {
      ...(counts.ageSeconds(nowMs) === undefined ? {} : { countersAgeSeconds: age(counts) }),
      ...(this.#rates.seconds === undefined ? {} : { countersSeconds: this.#rates.seconds }),
      ...(this.#live ? { liveAgeSeconds: age(swept), liveFlows: this.#live.count } : {}),
      ...(isRejectedRead ? { refusedAgeSeconds: age(rejected) } : {}),
      shareSeconds: SHARE_WINDOW_MS / 1000,
      events: stateOf(heard),
      eventCount: heard.count,
    };
  }

  /** Where sockets of pods have no entry, conntrack knows next to nothing of what is open. */
  get #isLiveKnown(): boolean {
    return !this.#options.unseenSources.includes('pod');
  }

  #newTally(): Tally {
    return new Tally(this.#owners, this.#options.handedOverTo);
  }
}

interface TickEnd {
  readonly seconds: number;
  readonly heard: Heard;
  readonly tally: Tally;
}

const ROWS = { endpoint: endpointRows, client: clientRows } as const;

function stateOf({ isComplete, count }: Heard): SourceStates['events'] {
  if (isComplete) return 'complete';
  return count > 0 ? 'sampled' : 'none';
}

/** To a tenth. */
function round(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
