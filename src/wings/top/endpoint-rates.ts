import type { ServicePortKey } from '../../forwarding/model.ts';
import type { CopiedCount } from '../../modes/copied-connections.ts';

/** Shares are taken over so long: of two connections in two seconds they say nothing. */
export const SHARE_WINDOW_MS = 30_000;

export interface EndpointRate {
  readonly endpoint: string;
  readonly connections: number;
  /** Undefined: there was no reading before. */
  readonly newPerSecond?: number;
  /** Undefined: there was no connection in the window. */
  readonly share?: number;
  /** Open connections, where a process of the mode has them. */
  readonly open?: number;
}

/** One answer of the agent. */
export interface CountReading {
  readonly counts: readonly CopiedCount[];
  /** Service ports that were read and have no endpoint. */
  readonly empty: readonly ServicePortKey[];
  /** Service ports with too many endpoints to be read. */
  readonly leftOut: readonly ServicePortKey[];
}

interface Reading {
  readonly atMs: number;
  readonly counts: ReadonlyMap<string, number>;
}

interface History {
  readonly last: Reading;
  readonly rates: readonly EndpointRate[];
  /** New connections between two readings. */
  readonly recent: readonly {
    readonly untilMs: number;
    readonly added: ReadonlyMap<string, number>;
  }[];
}

/** Rates and shares of endpoints from successive readings of their counters. */
export class EndpointRates {
  readonly #histories = new Map<ServicePortKey, History>();
  #lastAtMs: number | undefined;
  #seconds: number | undefined;

  /** Takes the counters of these service ports, which were read at this time. */
  take({ counts, empty }: CountReading, atMs: number): void {
    if (this.#lastAtMs !== undefined) this.#seconds = (atMs - this.#lastAtMs) / 1000;
    this.#lastAtMs = atMs;
    const before = new Map(this.#histories);
    // What was not in the last reading has a rate of a longer time, which is not that of now.
    this.#histories.clear();
    for (const [service, own] of Map.groupBy(counts, (count) => count.service)) {
      this.#histories.set(service, nextHistory(before.get(service), own, atMs));
    }
    for (const service of empty) {
      this.#histories.set(service, { last: { atMs, counts: new Map() }, rates: [], recent: [] });
    }
  }

  /** Between the last two readings; undefined: there were none. */
  get seconds(): number | undefined {
    return this.#seconds;
  }

  /** Undefined: its counters were never read. */
  of(service: ServicePortKey): readonly EndpointRate[] | undefined {
    return this.#histories.get(service)?.rates;
  }
}

function nextHistory(
  known: History | undefined,
  counts: readonly CopiedCount[],
  atMs: number,
): History {
  const last = { atMs, counts: new Map(counts.map((each) => [each.endpoint, each.connections])) };
  const open = new Map(counts.map(({ endpoint, streams }) => [endpoint, streams?.open]));
  const endpoints = [...last.counts.keys()].sort();
  const seconds = known ? (atMs - known.last.atMs) / 1000 : 0;
  if (known === undefined || seconds <= 0) {
    const rates = endpoints.map((endpoint) => rateOf(endpoint, last, open));
    return { last, rates, recent: [] };
  }
  const added = addedBetween(known.last.counts, last.counts);
  const recent = [...known.recent, { untilMs: atMs, added }].filter(
    ({ untilMs }) => untilMs > atMs - SHARE_WINDOW_MS,
  );
  const window = sumOf(recent.map((each) => each.added));
  const total = endpoints.reduce((sum, key) => sum + (window.get(key) ?? 0), 0);
  const rates = endpoints.map((endpoint) => ({
    ...rateOf(endpoint, last, open),
    newPerSecond: (added.get(endpoint) ?? 0) / seconds,
    ...(total > 0 ? { share: (window.get(endpoint) ?? 0) / total } : {}),
  }));
  return { last, rates, recent };
}

function rateOf(
  endpoint: string,
  { counts }: Reading,
  openOnes: ReadonlyMap<string, number | undefined>,
): EndpointRate {
  const open = openOnes.get(endpoint);
  const connections = counts.get(endpoint) ?? 0;
  return { endpoint, connections, ...(open === undefined ? {} : { open }) };
}

/** A counter that is smaller than before, or new, began at 0 in between. */
function addedBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  const added = new Map<string, number>();
  for (const [endpoint, count] of after) {
    const known = before.get(endpoint) ?? 0;
    added.set(endpoint, count >= known ? count - known : count);
  }
  return added;
}

function sumOf(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const each of all) {
    for (const [key, count] of each) sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return sums;
}
