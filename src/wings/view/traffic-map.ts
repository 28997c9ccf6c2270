import type { SourceClass } from '../../forwarding/model.ts';
import type { ServiceFigures } from '../top/traffic-figures.ts';
import type { Gathered } from '../top/traffic-rows.ts';
import type { Ending, EndsOfFlows } from './ends.ts';
import type { MapFlow, MapService, SourceRates, TrafficMap } from './protocol/traffic-tick.ts';
import { rounded, sumOfKnown } from './rounding.ts';

const MOST_SHOWN = 10;

export interface MapInputs {
  readonly gathered: Gathered;
  /** Of `gathered`, the busiest first. */
  readonly rows: readonly ServiceFigures[];
  /** Every service port of the node. */
  readonly known: number;
  /** Source classes whose connections conntrack does not see. */
  readonly unseenSources: readonly SourceClass[];
  readonly ends: EndsOfFlows;
}

/** Who asks → the busiest Services and all others → where it ends. */
export function trafficMap(inputs: MapInputs): TrafficMap {
  const { gathered, rows, known } = inputs;
  const sources = sourcesByService(inputs);
  const [shown, rest] = [rows.slice(0, MOST_SHOWN), rows.slice(MOST_SHOWN)];
  const endings = inputs.ends.of(rows, gathered.rejected !== undefined);
  const flowOf = (row: ServiceFigures): MapFlow => ({
    ...figuresOf(row),
    ...(sources === undefined ? {} : { from: ratesOf(sources.get(nameOf(row)), inputs) }),
    ...endsPart(endings.ofRow(row)),
  });
  const services = shown.map(
    (row): MapService => ({
      service: row.service,
      protocol: row.protocol,
      family: row.family,
      endpoints: row.endpoints.length,
      ...flowOf(row),
    }),
  );
  const restNames = new Set(shown.map(nameOf));
  const restSources = sources && sumOfSources(sources, (name) => !restNames.has(name));
  return {
    sources: sources === undefined ? {} : ratesOf(sumOfSources(sources), inputs),
    services,
    others: {
      ports: Math.max(0, known - shown.length),
      ...sumOfFigures(rest, gathered),
      ...(restSources === undefined ? {} : { from: ratesOf(restSources, inputs) }),
      ...endsPart(rest.flatMap((row) => endings.ofRow(row) ?? [])),
    },
    ends: endings.ends,
  };
}

type Counted = Map<SourceClass | 'unknown', number>;

/** New flows by Service and class of their client. Undefined: not all were heard. */
function sourcesByService({ gathered }: MapInputs): ReadonlyMap<string, Counted> | undefined {
  const { isComplete, heard, classOf } = gathered;
  if (!isComplete) return undefined;
  const found = new Map<string, Counted>();
  for (const { client, services } of heard.clients()) {
    const source = classOf(client) ?? 'unknown';
    for (const [key, count] of services) {
      const own: Counted = found.get(key) ?? new Map();
      found.set(key, own);
      own.set(source, (own.get(source) ?? 0) + count);
    }
  }
  return found;
}

function sumOfSources(
  all: ReadonlyMap<string, Counted>,
  isWanted: (key: string) => boolean = () => true,
): Counted {
  const sum: Counted = new Map();
  for (const [key, counted] of all) {
    if (!isWanted(key)) continue;
    for (const [source, count] of counted) sum.set(source, (sum.get(source) ?? 0) + count);
  }
  return sum;
}

/**
 * A class that conntrack does not see has no figure. Where programs are in front, none heard may mean
 * that the kernel does not tell of entries that a program makes.
 */
function ratesOf(
  counted: Counted = new Map(),
  { gathered, unseenSources }: MapInputs,
): SourceRates {
  const { seconds, seesAll } = gathered;
  const classes = (['pod', 'host', 'outside'] as const).filter(
    (source) => !unseenSources.includes(source) && (seesAll || counted.has(source)),
  );
  const rates = classes.map((source) => [source, rounded((counted.get(source) ?? 0) / seconds)]);
  const unknown = counted.get('unknown') ?? 0;
  return {
    ...(Object.fromEntries(rates) as SourceRates),
    ...(unknown > 0 ? { unknown: rounded(unknown / seconds) } : {}),
  };
}

/** As the tally names a service port. */
function nameOf({ service, protocol, family }: ServiceFigures): string {
  return `${service}/${protocol}/${family}`;
}

function figuresOf(row: ServiceFigures): MapFlow {
  const { newPerSecond, rejectedPerSecond, droppedPerSecond, live } = row;
  return {
    ...(newPerSecond === undefined ? {} : { newPerSecond: rounded(newPerSecond) }),
    ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond: rounded(rejectedPerSecond) }),
    ...(droppedPerSecond === undefined ? {} : { droppedPerSecond: rounded(droppedPerSecond) }),
    ...(live === undefined ? {} : { live }),
  };
}

function sumOfFigures(rows: readonly ServiceFigures[], gathered: Gathered): MapFlow {
  const newPerSecond = sumOfKnown(rows.map((row) => row.newPerSecond));
  // The sum of no rows is 0 only where it would be known of a row.
  const of = (isKnown: boolean, pick: (row: ServiceFigures) => number | undefined) =>
    isKnown ? sumOfKnown(rows.map(pick)) : undefined;
  const isRejectedKnown = gathered.rejected !== undefined;
  const rejectedPerSecond = of(isRejectedKnown, (row) => row.rejectedPerSecond);
  const droppedPerSecond = of(isRejectedKnown, (row) => row.droppedPerSecond);
  const live = of(gathered.live !== undefined, (row) => row.live);
  return {
    ...(newPerSecond === undefined ? {} : { newPerSecond: rounded(newPerSecond) }),
    ...(rejectedPerSecond === undefined ? {} : { rejectedPerSecond: rounded(rejectedPerSecond) }),
    ...(droppedPerSecond === undefined ? {} : { droppedPerSecond: rounded(droppedPerSecond) }),
    ...(live === undefined ? {} : { live }),
  };
}

function endsPart(endings: readonly Ending[] | undefined): Pick<MapFlow, 'ends'> {
  if (endings === undefined || endings.length === 0) return {};
  const sums = new Map<string, number>();
  for (const { end, perSecond } of endings) sums.set(end, (sums.get(end) ?? 0) + perSecond);
  return { ends: [...sums].map(([end, perSecond]) => [end, rounded(perSecond)] as const) };
}
