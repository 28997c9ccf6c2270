import { type Quartiles, quartilesOf, quartilesText } from '../../lab/host/spread.ts';
import type { Allowance } from '../../lab/proxies/contract.ts';
import type { Barrier } from '../runner/barrier.ts';
import type { Round } from '../runner/gate.ts';

/** Enough rounds that a few disturbed ones do not move the median. */
export const ROUNDS = 20;
/** Of a proxy that may be late there is no verdict: some show how late it is. */
const ROUNDS_WITHOUT_VERDICT = 5;
/** How far the median of the barrier may be behind that of a client that only watches. */
export const MOST_BEHIND_MS = 150;

/** How soon a change is in the kernel of every node, beside what no proxy could beat. */
export interface Promptness {
  readonly proxy: string;
  readonly barrier: Quartiles;
  readonly watcher: Quartiles;
  readonly behindMs: number;
  readonly verdict: 'prompt' | 'late' | 'no verdict';
  /** What the verdict rests on. */
  readonly reason: string;
}

export async function measurePromptness(of: {
  readonly proxy: string;
  readonly lateness: Allowance | undefined;
  readonly barrier: Barrier;
  readonly signal: AbortSignal;
}): Promise<Promptness> {
  const rounds: Round[] = [];
  const count = of.lateness === undefined ? ROUNDS : ROUNDS_WITHOUT_VERDICT;
  while (rounds.length < count) rounds.push(await of.barrier.measure(of.signal));
  return judgePromptness({ ...of, rounds });
}

export function judgePromptness(of: {
  readonly proxy: string;
  readonly lateness: Allowance | undefined;
  readonly rounds: readonly Round[];
}): Promptness {
  const barrier = quartilesOf(of.rounds.map(({ barrierMs }) => barrierMs));
  const watcher = quartilesOf(of.rounds.map(({ watcherMs }) => watcherMs));
  const behindMs = barrier.median - watcher.median;
  const figures = { proxy: of.proxy, barrier, watcher, behindMs };
  if (of.lateness !== undefined) {
    return { ...figures, verdict: 'no verdict', reason: of.lateness.reason };
  }
  const isPrompt = behindMs <= MOST_BEHIND_MS;
  const reason =
    `of ${barrier.count} rounds the barrier took ${quartilesText(barrier)} ms, ` +
    `a bare watcher ${quartilesText(watcher)} ms: ${behindMs.toFixed(0)} ms behind, ` +
    `at most ${MOST_BEHIND_MS} ms`;
  return { ...figures, verdict: isPrompt ? 'prompt' : 'late', reason };
}
