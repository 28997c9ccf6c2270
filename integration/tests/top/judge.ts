import type { ServiceFigures, Tick } from '../../../src/wings/top/traffic-figures.ts';

/** What the clients did to one Service, by its name. */
export interface Did {
  /** Connections that were answered, by the address of the endpoint, and held ones to any of them. */
  readonly answered?: Readonly<Record<string, number>>;
  readonly held?: number;
  /** Packets: a client repeats one that is not answered, and an ICMP error may be held back. */
  readonly rejected?: number;
  readonly dropped?: number;
  readonly mostRepeated?: number;
  /** Undefined: the mode cannot know. */
  readonly live?: number | undefined;
}

/** Every figure of the ticks that is not what the clients did, in words. */
export function differences(
  ticks: readonly Tick[],
  did: Readonly<Record<string, Did>>,
): readonly string[] {
  return Object.entries(did).flatMap(([service, each]) => [
    ...countDifferences(ticks, service, each),
    ...rateDifferences(ticks, service),
  ]);
}

function countDifferences(ticks: readonly Tick[], service: string, did: Did): string[] {
  const { answered = {}, held = 0, rejected = 0, dropped = 0, mostRepeated = 0, live } = did;
  const found = ticks.map((tick) => rowOf(tick, service)).findLast((row) => row !== undefined);
  const last = rowOf(ticks.at(-1), service);
  const total = Object.values(answered).reduce((sum, each) => sum + each, held);
  const compared: [what: string, is: unknown, shall: unknown][] = [
    ['connections', found?.connections ?? 0, total],
    ['rejected', upTo(found?.rejected, rejected, mostRepeated), rejected],
    ['dropped', upTo(found?.dropped, dropped, mostRepeated), dropped],
    ['live', last?.live, last === undefined && live === 0 ? undefined : live],
  ];
  return [
    ...compared
      .filter(([, is, shall]) => is !== shall)
      .map(([what, is, shall]) => `${service}: ${what} ${is}, not ${shall}`),
    ...endpointDifferences(found, { service, answered, held }),
  ];
}

/** The expected number for one that is larger by repeated packets only. */
function upTo(found = 0, expected: number, mostRepeated: number): number {
  const repeated = found - expected;
  return expected > 0 && repeated >= 0 && repeated <= mostRepeated ? expected : found;
}

function endpointDifferences(
  row: ServiceFigures | undefined,
  of: { service: string; answered: Readonly<Record<string, number>>; held: number },
): string[] {
  const { service, answered, held } = of;
  const counts = new Map(row?.endpoints.map((each) => [each.endpoint, each.connections]));
  return [...new Set([...counts.keys(), ...Object.keys(answered)])].flatMap((endpoint) => {
    const [is, least] = [counts.get(endpoint) ?? 0, answered[endpoint] ?? 0];
    const isRight = is >= least && is <= least + held;
    return isRight ? [] : [`${service}: ${endpoint} has ${is}, not ${least} to ${least + held}`];
  });
}

/** A rate times its time is what the counter rose by, if it was read in each of two ticks. */
function rateDifferences(ticks: readonly Tick[], service: string): string[] {
  return ticks.flatMap((tick, index) => {
    const [row, before] = [rowOf(tick, service), ticks[index - 1]];
    const { countersAgeSeconds = 0, countersSeconds = 0 } = tick.sources;
    const wasFresh = (before?.sources.countersAgeSeconds ?? 0) < (before?.seconds ?? 0) / 2;
    if (!row || !before || !wasFresh || countersAgeSeconds > tick.seconds / 2) return [];
    const rise = (row.connections ?? 0) - (rowOf(before, service)?.connections ?? 0);
    const counted = (row.newPerSecond ?? 0) * countersSeconds;
    // A Service without connections and without open ones is in no row.
    if (rowOf(before, service) === undefined && (row.connections ?? 0) > rise) return [];
    return Math.abs(counted - rise) < 0.01 ? [] : [`${service}: ${counted} new, not ${rise}`];
  });
}

function rowOf(tick: Tick | undefined, service: string): ServiceFigures | undefined {
  const rows = tick?.rows as readonly ServiceFigures[] | undefined;
  return rows?.find((row) => row.service === service);
}
