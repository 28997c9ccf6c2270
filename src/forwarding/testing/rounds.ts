/** Odd, so that the median is one of them; the first ones, which the compiler disturbs, are few. */
const ROUNDS = 9;
/** The kernel counts the processor's time in ticks of up to 4 ms: a round takes several of them. */
const LEAST_ROUND_MS = 20;
const MOST_CALLS = 10_000;

/** A figure of several rounds: the median, and the middle half of them for the reader of a failure. */
export interface Figure {
  readonly median: number;
  /** `12.3 (11.9 to 14.2) ms` */
  readonly text: string;
}

export interface Compared {
  /** Computed from the medians. */
  readonly times: number;
  readonly text: string;
}

/**
 * The ratio of processor time, large work to small. The two alternate and medians are compared, so
 * that a disturbance of a few rounds changes neither.
 */
export function compare(work: {
  readonly small: () => void;
  readonly large: () => void;
}): Compared {
  const calls = { small: callsOfARound(work.small), large: callsOfARound(work.large) };
  const small: number[] = [];
  const large: number[] = [];
  while (small.length < ROUNDS) {
    small.push(processorMs(work.small, calls.small));
    large.push(processorMs(work.large, calls.large));
  }
  return compared(small, large);
}

/** For one call, for work that cannot alternate with other work. */
export async function processorFigure(work: () => Promise<void>): Promise<Figure> {
  const rounds: number[] = [];
  while (rounds.length < ROUNDS) rounds.push(await roundMs(work));
  return figureOf(rounds);
}

/** Calls until the round is long enough to be counted in ticks, by the processor's time itself. */
async function roundMs(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  let calls = 0;
  while (calls === 0 || (sinceMs(before) < LEAST_ROUND_MS && calls < MOST_CALLS)) {
    await work();
    calls++;
  }
  return sinceMs(before) / calls;
}

export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
  const [low, high] = [at(0.25), at(0.75)];
  const text = `${at(0.5).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}) ms`;
  return { median: at(0.5), text };
}

function compared(smallMs: readonly number[], largeMs: readonly number[]): Compared {
  const small = figureOf(smallMs);
  const large = figureOf(largeMs);
  const times = large.median / small.median;
  const text = `${times.toFixed(1)} times as much: ${large.text} of processor, not ${small.text}`;
  return { times, text };
}

/**
 * Calls until they have taken long enough, and the compiler has seen them. By the processor's time,
 * which is counted in ticks: on a busy machine a round by the clock may be shorter than one.
 */
function callsOfARound(work: () => void): number {
  const before = process.threadCpuUsage();
  let calls = 0;
  while (sinceMs(before) < LEAST_ROUND_MS && calls < MOST_CALLS) {
    work();
    calls++;
  }
  return calls;
}

/** For one call, on this thread only: the load of other processes does not count. */
function processorMs(work: () => void, calls: number): number {
  const before = process.threadCpuUsage();
  for (let call = 0; call < calls; call++) work();
  return sinceMs(before) / calls;
}

function sinceMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
