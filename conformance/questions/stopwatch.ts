import { readFileSync } from 'node:fs';

/** The kernel counts in ticks of a hundredth of a second, whatever its own clock is. */
const TICK_MS = 10;
/** Fields before steal in the line of all CPUs: `cpu`, user, nice, system, idle and three more. */
const STEAL_FIELD = 8;

export interface Lapse {
  /** By the clock. */
  readonly afterMs: number;
  /** What the host of this machine took from its processors meanwhile, of all together. */
  readonly stolenMs: number;
}

/** Tells how long ago it was started. */
export type Stopwatch = () => Lapse;

export interface Clocks {
  readonly readStat: () => string;
  readonly nowMs: () => number;
}

const OF_THIS_MACHINE: Clocks = {
  readStat: () => readFileSync('/proc/stat', 'utf8'),
  nowMs: () => performance.now(),
};

/**
 * A busy hypervisor may stop this machine for seconds, which is not the proxy's delay: so steal time
 * is reported beside the elapsed time.
 */
export function startStopwatch({ readStat, nowMs }: Clocks = OF_THIS_MACHINE): Stopwatch {
  const stolenBeforeMs = stolenMsIn(readStat());
  const startedAtMs = nowMs();
  return () => ({
    afterMs: nowMs() - startedAtMs,
    stolenMs: stolenMsIn(readStat()) - stolenBeforeMs,
  });
}

/** What the host of this machine took of all its processors, from 0 to 1. */
export function takenShare(lapse: Lapse, stat = OF_THIS_MACHINE.readStat()): number {
  // Not those that this process may use: steal is that of all.
  const processors = stat.split('\n').filter((line) => /^cpu\d/.test(line)).length;
  const wholeMs = lapse.afterMs * processors;
  return wholeMs > 0 ? Math.min(1, lapse.stolenMs / wholeMs) : 0;
}

/** Since the start of the machine. */
export function stolenMsIn(stat: string): number {
  const [first = ''] = stat.split('\n', 1);
  const ticks = Number(first.split(/\s+/)[STEAL_FIELD]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : 0;
}
