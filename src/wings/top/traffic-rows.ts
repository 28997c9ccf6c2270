import type { ServicePortKey, SourceClass } from '../../forwarding/model.ts';
import type { ClassOf } from './client-class.ts';
import type { EndpointRate, EndpointRates } from './endpoint-rates.ts';
import type { RejectedRate } from './rejected-rates.ts';
import { portNameOf } from './served-owners.ts';
import type { CountedClient, Tally } from './tally.ts';
import type {
  ClientFigures,
  EndpointFigures,
  EndpointRow,
  ServiceFigures,
  Totals,
} from './traffic-figures.ts';

/** Everything that was read until the end of a tick. */
export interface Gathered {
  /** The service ports to show. */
  readonly keys: readonly ServicePortKey[];
  readonly seconds: number;
  /** New flows of this tick. */
  readonly heard: Tally;
  /** Whether `heard` has every new flow of conntrack. */
  readonly isComplete: boolean;
  /** Whether conntrack has every connection. */
  readonly seesAll: boolean;
  /** Of whose connections conntrack has no entry. */
  readonly unseenSources: readonly SourceClass[];
  /** Whether `heard` can have every flow of the others. */
  readonly hearsClients: boolean;
  /** Undefined: the mode does not know what is open. */
  readonly live: Tally | undefined;
  /** Undefined: the mode does not count them, or they were read once only. */
  readonly rejected: ReadonlyMap<ServicePortKey, RejectedRate> | undefined;
  readonly rates: EndpointRates;
  readonly classOf: ClassOf;
}

/** The busiest first. */
export function serviceRows(gathered: Gathered): ServiceFigures[] {
  return gathered.keys
    .map((key) => serviceFigures(gathered, key))
    .filter(isOfInterest)
    .sort(
      (a, b) =>
        rateOf(b) - rateOf(a) || (b.live ?? 0) - (a.live ?? 0) || byText(a.service, b.service),
    );
}

/** Figures of one service port; rates are absent where it was not measured. */
export function serviceFigures(gathered: Gathered, key: ServicePortKey): ServiceFigures {
  const { live, rejected, seconds, isComplete, seesAll, heard } = gathered;
  const endpoints = endpointFigures(gathered, key);
  const rejection = rejected && (rejected.get(key) ?? NOTHING_REJECTED);
  const rates = gathered.rates.of(key);
  const counted = countedRate(rates);
  // Without a reading before this one the events of the tick have the same figure, if all were heard.
  const isHeard = isComplete && seesAll;
  const heardRate = isHeard ? (heard.services().get(key) ?? 0) / seconds : undefined;
  const newPerSecond = counted ?? heardRate;
  return {
    ...portNameOf(key),
    ...(newPerSecond === undefined ? {} : { newPerSecond }),
    ...(rates === undefined ? {} : { connections: sumOf(rates.map((each) => each.connections)) }),
    ...(live ? { live: live.services().get(key) ?? 0 } : {}),
    ...rejection,
    endpoints,
  };
}

/** Undefined: there is only one reading of it, or none. */
function countedRate(rates: readonly EndpointRate[] | undefined): number | undefined {
  if (rates === undefined) return undefined;
  const known = rates.map(({ newPerSecond }) => newPerSecond).filter((rate) => rate !== undefined);
  return known.length === rates.length ? sumOf(known) : undefined;
}

const NOTHING_REJECTED: RejectedRate = {
  rejectedPerSecond: 0,
  droppedPerSecond: 0,
  rejected: 0,
  dropped: 0,
};

/** In the order of their addresses: the order of a list that is read again and again must not jump. */
function endpointFigures(
  { rates, live }: Gathered,
  key: ServicePortKey,
): readonly EndpointFigures[] {
  const open = live?.endpointsOf(key);
  return (rates.of(key) ?? []).map(
    ({ endpoint, connections, newPerSecond, share, open: copied = 0 }) => ({
      endpoint,
      connections,
      ...(newPerSecond === undefined ? {} : { newPerSecond }),
      ...(share === undefined ? {} : { share }),
      ...(open ? { live: (open.get(endpoint) ?? 0) + copied } : {}),
    }),
  );
}

export function endpointRows(gathered: Gathered): EndpointRow[] {
  return gathered.keys
    .flatMap((key) =>
      endpointFigures(gathered, key).map((figures) => ({ ...portNameOf(key), ...figures })),
    )
    .filter(({ newPerSecond = 0, live = 0 }) => newPerSecond > 0 || live > 0)
    .sort(
      (a, b) =>
        (b.newPerSecond ?? 0) - (a.newPerSecond ?? 0) ||
        (b.live ?? 0) - (a.live ?? 0) ||
        byText(a.service, b.service) ||
        byText(a.endpoint, b.endpoint),
    );
}

/** Of what conntrack has: clients are in no counter. */
export function clientRows({
  heard,
  live,
  seconds,
  isComplete,
  unseenSources,
  hearsClients,
  classOf,
}: Gathered): ClientFigures[] {
  const began = new Map(heard.clients().map((each) => [each.client, each]));
  const open = new Map((live?.clients() ?? []).map((each) => [each.client, each]));
  const rows = [...new Set([...began.keys(), ...open.keys()])].map((client) => {
    const source = classOf(client);
    // What is seen of such a client is a part: it would read as a figure.
    const isSeen = source === undefined || !unseenSources.includes(source);
    const isHeard = isComplete && hearsClients && isSeen;
    return {
      client,
      ...(source === undefined ? {} : { class: source }),
      ...(isHeard ? { newPerSecond: (began.get(client)?.count ?? 0) / seconds } : {}),
      ...(live && isSeen ? { live: open.get(client)?.count ?? 0 } : {}),
      ...servicesOf([began.get(client), open.get(client)]),
      rank: began.get(client)?.count ?? 0,
    };
  });
  return rows
    .sort((a, b) => b.rank - a.rank || (b.live ?? 0) - (a.live ?? 0) || byText(a.client, b.client))
    .map(({ rank: _, ...figures }) => figures);
}

function servicesOf(
  counted: readonly (CountedClient | undefined)[],
): Pick<ClientFigures, 'service' | 'serviceCount'> {
  const sums = new Map<string, number>();
  for (const each of counted) {
    for (const [key, count] of each?.services ?? []) {
      const { service } = portNameOf(key);
      sums.set(service, (sums.get(service) ?? 0) + count);
    }
  }
  const [first] = [...sums].sort(([a, x], [b, y]) => y - x || byText(a, b));
  return { service: first?.[0] ?? '', serviceCount: sums.size };
}

/** Over the service ports that were measured. */
export function totalsOf(
  services: readonly ServiceFigures[],
  counts: { readonly measured: number; readonly known: number; readonly live: Tally | undefined },
): Totals {
  const sum = (pick: (row: ServiceFigures) => number | undefined): number | undefined => {
    const known = services.map(pick).filter((figure) => figure !== undefined);
    return services.length > 0 && known.length === 0 ? undefined : sumOf(known);
  };
  const figures = {
    newPerSecond: sum((row) => row.newPerSecond),
    live: counts.live?.count,
    rejectedPerSecond: sum((row) => row.rejectedPerSecond),
    droppedPerSecond: sum((row) => row.droppedPerSecond),
  };
  return {
    ...(Object.fromEntries(
      Object.entries(figures).filter(([, figure]) => figure !== undefined),
    ) as Partial<Totals>),
    busyServices: services.filter(({ newPerSecond = 0 }) => newPerSecond > 0).length,
    measuredServices: counts.measured,
    knownServices: counts.known,
  };
}

function isOfInterest(row: ServiceFigures): boolean {
  return rateOf(row) > 0 || (row.live ?? 0) > 0;
}

function rateOf({ newPerSecond = 0, rejectedPerSecond = 0, droppedPerSecond = 0 }: ServiceFigures) {
  return newPerSecond + rejectedPerSecond + droppedPerSecond;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
