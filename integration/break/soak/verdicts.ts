import { median } from '../../../lab/host/spread.ts';
import type { SoakResult } from './result.ts';
import type { Sample } from './sample.ts';
import { inBlocks, type Point, type Trend, trendOf } from './trend.ts';

/** The first half is warm-up: the compiler of Node and the allocator still grow. */
const WARM_SHARE = 0.5;
/** Few enough that each has a full collection of garbage in a run of ten minutes. */
export const BLOCKS = 10;
const HOUR_SECONDS = 3_600;

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly of: (sample: Sample) => number | null;
  /** What stands for a block: the floor of memory, which garbage does not move. */
  readonly block: (values: readonly number[]) => number;
  /** Growth over the judged time, as a share of the level, that is none: an allocator still settles. */
  readonly negligibleShare: number;
}

const MIB = 1024 ** 2;
export const floor = (values: readonly number[]): number => Math.min(...values);

export const FIGURES: readonly Figure[] = [
  {
    name: 'resident memory',
    unit: 'MB',
    of: ({ residentBytes }) => residentBytes / MIB,
    block: floor,
    negligibleShare: 0.02,
  },
  {
    name: 'heap in use',
    unit: 'MB',
    of: ({ heapBytes }) => heapBytes / MIB,
    block: floor,
    negligibleShare: 0.02,
  },
  {
    name: 'file descriptors',
    unit: '',
    of: ({ descriptors }) => descriptors,
    block: floor,
    negligibleShare: 0,
  },
  {
    name: 'change to kernel, p99',
    unit: 'ms',
    of: ({ p99Ms }) => p99Ms,
    block: median,
    negligibleShare: 0.25,
  },
];

export interface Verdict {
  readonly what: string;
  readonly unit: string;
  /** After the warm-up. */
  readonly level: number;
  /** In an hour. */
  readonly growth: Trend;
  /** Between the first and the last sample after the warm-up. */
  readonly judgedSeconds: number;
  /**
   * `flat`: the interval of the slope has zero or less in it. `grows`: it has not, and even its least slope
   * adds up to more than negligible. `undecided`: it has not, and a longer run must tell.
   */
  readonly verdict: 'flat' | 'undecided' | 'grows';
}

/** Warm samples of a figure, as points over seconds. */
export function pointsOf(figure: Figure, samples: readonly Sample[]): Point[] {
  return samples.flatMap((sample) => {
    const y = figure.of(sample);
    return y === null ? [] : [{ x: sample.atSeconds, y }];
  });
}

export function warmSamples(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length * WARM_SHARE));
}

export function verdictOn(figure: Figure, samples: readonly Sample[]): Verdict {
  const points = pointsOf(figure, warmSamples(samples));
  const blocks = inBlocks(points, { count: BLOCKS, of: figure.block });
  const { slope, least, most, intercept } = trendOf(blocks);
  const growth = {
    slope: slope * HOUR_SECONDS,
    least: least * HOUR_SECONDS,
    most: most * HOUR_SECONDS,
    intercept,
  };
  const level = median(blocks.map(({ y }) => y));
  const judgedSeconds = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  return {
    what: figure.name,
    unit: figure.unit,
    level,
    growth,
    judgedSeconds,
    verdict: verdictFor(least, { judgedSeconds, negligible: figure.negligibleShare * level }),
  };
}

function verdictFor(
  least: number,
  of: { readonly judgedSeconds: number; readonly negligible: number },
): Verdict['verdict'] {
  if (least <= 0) return 'flat';
  return least * of.judgedSeconds > of.negligible ? 'grows' : 'undecided';
}

export function verdictsOf({ samples }: SoakResult): Verdict[] {
  return FIGURES.map((figure) => verdictOn(figure, samples));
}

/** More than this, and what was sampled does not stand for the run. */
const MOST_UNANSWERED_SHARE = 0.05;

function unansweredFaults({ samples, unansweredSamples = 0 }: SoakResult): string[] {
  const all = samples.length + unansweredSamples;
  if (unansweredSamples <= MOST_UNANSWERED_SHARE * all) return [];
  return [`the agent left ${unansweredSamples} of ${all} scrapes unanswered`];
}

/** Empty: it passed. */
export function faultsOf(result: SoakResult): string[] {
  const { connections, ended, differences } = result;
  return [
    ...(ended === undefined ? [] : [`the agent ended: ${ended}`]),
    ...(connections.failed > 0 ? [`${connections.failed} connections failed`] : []),
    ...(differences > 0 ? [`${differences} differences in the kernel at the end`] : []),
    ...unansweredFaults(result),
    ...verdictsOf(result)
      .filter(({ verdict }) => verdict === 'grows')
      .map(({ what }) => `grows: ${what}`),
  ];
}
