import type { ChangeFigures, DataFigures, Run, StageFigures, Visit } from './record.ts';

const THOUSAND = 1_000;

/** A list for each stage instead of its name for each change. */
interface PackedChanges extends Omit<ChangeFigures, 'stages'> {
  readonly stages: Readonly<Record<keyof StageFigures, readonly number[]>>;
}

interface PackedVisit extends Omit<Visit, 'changes' | 'data'> {
  readonly changes?: PackedChanges;
  /** Their shares are whole thousandths. */
  readonly data?: readonly DataFigures[];
}

interface PackedRun extends Omit<Run, 'visits'> {
  readonly visits: readonly PackedVisit[];
}

/** JSON with a line for each measurement, so that a difference between two runs can be read. */
export function packRun({ visits, limits, ...head }: Run): string {
  const packed = visits.map(packVisit);
  return [
    `{${pairs(head)},`,
    `"visits":[`,
    packed.map(visitText).join(',\n'),
    '],',
    `"limits":[`,
    limits.map((each) => JSON.stringify(each)).join(',\n'),
    ']}\n',
  ].join('\n');
}

export function unpackRun(text: string): Run {
  const { visits, ...run } = JSON.parse(text) as PackedRun;
  return { ...run, visits: visits.map(unpackVisit) };
}

function visitText({ data, ...visit }: PackedVisit): string {
  const isFigures = ([name, value]: [string, unknown]): boolean =>
    typeof value === 'object' && name !== 'size';
  const entries = Object.entries(visit);
  const lines = [
    pairs(Object.fromEntries(entries.filter((entry) => !isFigures(entry)))),
    ...entries.filter(isFigures).map(([name, value]) => ` "${name}":${JSON.stringify(value)}`),
    ...(data ? [` "data":[\n${data.map((each) => `  ${JSON.stringify(each)}`).join(',\n')}]`] : []),
  ];
  return `{${lines.join(',\n')}}`;
}

function packVisit({ changes, data, ...visit }: Visit): PackedVisit {
  return {
    ...visit,
    ...(changes ? { changes: { ...changes, stages: columnsOf(changes) } } : {}),
    ...(data ? { data: data.map((each) => withShares(each, toThousandths)) } : {}),
  };
}

function unpackVisit({ changes, data, ...visit }: PackedVisit): Visit {
  return {
    ...visit,
    ...(changes ? { changes: { ...changes, stages: rowsOf(changes) } } : {}),
    ...(data ? { data: data.map((each) => withShares(each, fromThousandths)) } : {}),
  };
}

function columnsOf({ stages }: ChangeFigures): PackedChanges['stages'] {
  const column = (name: keyof StageFigures): number[] => stages.map((stage) => stage[name]);
  return {
    apiMs: column('apiMs'),
    resolveMs: column('resolveMs'),
    writeMs: column('writeMs'),
    packetMs: column('packetMs'),
  };
}

function rowsOf({ stages }: PackedChanges): ChangeFigures['stages'] {
  return stages.apiMs.map((apiMs, index) => ({
    apiMs,
    resolveMs: stages.resolveMs[index] ?? Number.NaN,
    writeMs: stages.writeMs[index] ?? Number.NaN,
    packetMs: stages.packetMs[index] ?? Number.NaN,
  }));
}

function withShares(data: DataFigures, change: (share: number) => number): DataFigures {
  const { rateShares, cpuShares } = data;
  return { ...data, rateShares: rateShares.map(change), cpuShares: cpuShares.map(change) };
}

function toThousandths(share: number): number {
  return Math.round(share * THOUSAND);
}

function fromThousandths(thousandths: number): number {
  return thousandths / THOUSAND;
}

/** The inside of an object, without its braces. */
function pairs(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}
