import type { NumberRange } from '../scenario.ts';
import type { Outcome } from './outcome.ts';

/** Standard deviations that chance exceeds less than once in 1e9. */
const RARE_Z = 6;
/** Connections that each cell of the chi-square test is to expect. */
const EXPECTED_PER_CELL = 20;
const MOST_CELLS = 50;

/** Undefined when the answers come from numbered addresses of the pod, evenly over the range. */
export function unevenSpread(
  over: { readonly pod: string; readonly numbers: NumberRange },
  outcomes: readonly Outcome[],
): string | undefined {
  const { from, to } = over.numbers;
  const drawn: number[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind !== 'answered') return 'some had no answer';
    const number = numberOf(outcome.by, over.pod);
    if (number === undefined || number < from || number > to) {
      return `${outcome.by} should not have answered`;
    }
    drawn.push(number - from);
  }
  return unevenDraws(drawn, to - from + 1);
}

/** `crowd#17` is address 17 of the pod `crowd`. */
function numberOf(by: string, pod: string): number | undefined {
  const [name, number] = by.split('#');
  return name === pod && number !== undefined ? Number(number) : undefined;
}

/**
 * Chi-square over neighbouring endpoints, and over every k-th, with as many cells as the draws fill;
 * and how many different endpoints there are, which finds favourites within a cell.
 */
export function unevenDraws(drawn: readonly number[], size: number): string | undefined {
  const cells = Math.min(MOST_CELLS, size, Math.floor(drawn.length / EXPECTED_PER_CELL));
  if (cells < 2) throw new TypeError(`${drawn.length} connections are too few to test a spread`);
  const blocks = (index: number): number => Math.floor((index * cells) / size);
  const residues = (index: number): number => index % cells;
  return (
    rareChiSquare(drawn, { size, cells, cellOf: blocks }) ??
    rareChiSquare(drawn, { size, cells, cellOf: residues }) ??
    tooFewDifferent(drawn, size)
  );
}

interface Partition {
  readonly size: number;
  readonly cells: number;
  readonly cellOf: (index: number) => number;
}

function rareChiSquare(drawn: readonly number[], partition: Partition): string | undefined {
  const { size, cells, cellOf } = partition;
  const members = new Array<number>(cells).fill(0);
  const seen = new Array<number>(cells).fill(0);
  for (let index = 0; index < size; index++) increment(members, cellOf(index));
  for (const index of drawn) increment(seen, cellOf(index));
  const statistic = seen.reduce((sum, count, cell) => {
    const expected = (drawn.length * (members[cell] ?? 0)) / size;
    return sum + (count - expected) ** 2 / expected;
  }, 0);
  const limit = rareChiSquareLimit(cells - 1);
  if (statistic <= limit) return undefined;
  return `the spread is uneven: chi-square ${statistic.toFixed(0)} over ${cells} cells, where chance exceeds ${limit.toFixed(0)} once in 1e9`;
}

/** The value that chance exceeds once in 1e9, by the approximation of Wilson and Hilferty. */
export function rareChiSquareLimit(degrees: number): number {
  const part = 2 / (9 * degrees);
  return degrees * (1 - part + RARE_Z * Math.sqrt(part)) ** 3;
}

/** Expectation and variance of the number of distinct values in n draws from N. */
function tooFewDifferent(drawn: readonly number[], size: number): string | undefined {
  const n = drawn.length;
  const missed = (1 - 1 / size) ** n;
  const bothMissed = (1 - 2 / size) ** n;
  const expected = size * (1 - missed);
  const variance = size * missed + size * (size - 1) * bothMissed - (size * missed) ** 2;
  // One more for the step of a whole number.
  const least = expected - RARE_Z * Math.sqrt(Math.max(0, variance)) - 1;
  const different = new Set(drawn).size;
  if (different >= least) return undefined;
  return `only ${different} endpoints answered, where chance gives at least ${Math.ceil(least)}`;
}

function increment(counts: number[], index: number): void {
  counts[index] = (counts[index] ?? 0) + 1;
}
