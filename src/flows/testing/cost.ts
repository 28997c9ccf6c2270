import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import type { FlowRun } from '../flow-observer.ts';
import { FlowReconciler } from '../flow-reconciler.ts';
import { Turns } from './event-loop-turns.ts';

/** Usually 3 to 11 ms. One walk of the kernel through 200,000 flows takes 46 to 91. */
const LONGEST_TURN_MS = 30;
/** Where there is much to do: one iteration that blocks would have nearly all of it. */
const LARGEST_SHARE_OF_A_TURN = 0.15;
/**
 * A host that takes the processor away without saying so lengthens an iteration by what it takes, and
 * other work in the same core by a part. What blocks, blocks in every round: one short round is enough.
 */
const MOST_ROUNDS = 5;
const MOST_GROWTH_MB = 60;
const MB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Measured {
  readonly result: FlowRun;
  readonly longestTurnMs: number;
  /** What it may be. */
  readonly mostTurnMs: number;
}

/** Runs what one cause needs, and measures what it costs everything else. */
export async function measured(
  what: string,
  cause: (reconciler: FlowReconciler) => void,
): Promise<Measured> {
  const aborter = new AbortController();
  const done = Promise.withResolvers<FlowRun>();
  const reconciler = new FlowReconciler({
    conntrack: new KernelConntrack(),
    nodePortAddresses: () => [],
    observer: { onDeleted: () => undefined, onRun: done.resolve },
    options: {},
  });
  collectGarbage();
  const memoryBefore = process.memoryUsage.rss();
  const ended = reconciler.run(aborter.signal);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const turns = new Turns();
  loop.enable();
  turns.start('each turn');
  const beganAtMs = performance.now();
  cause(reconciler);
  const result = await done.promise;
  const tookMs = performance.now() - beganAtMs;
  loop.disable();
  const { longestMs: longestTurnMs, busyMs } = turns.stop();
  aborter.abort();
  await ended;
  const memory = process.memoryUsage.rss();
  const growthMb = (memory - memoryBefore) / MB;
  console.log(
    `${what}: ${tookMs.toFixed(0)} ms, ${result.seen} seen, ${result.deleted} deleted; longest ` +
      `turn ${longestTurnMs.toFixed(1)} of ${busyMs.toFixed(0)} ms of processor; event loop delay by the clock: median ` +
      `${(loop.percentile(50) / 1e6).toFixed(1)}, p99 ${(loop.percentile(99) / 1e6).toFixed(1)}, ` +
      `longest ${(loop.max / 1e6).toFixed(1)} ms; RSS ${(memory / MB).toFixed(0)} MB, grown by ` +
      `${growthMb.toFixed(0)} MB`,
  );
  assert.equal(result.error, undefined);
  assert.ok(growthMb < MOST_GROWTH_MB, `${growthMb} MB`);
  const mostTurnMs = Math.max(LONGEST_TURN_MS, busyMs * LARGEST_SHARE_OF_A_TURN);
  return { result, longestTurnMs, mostTurnMs };
}

/** For a cause that changes nothing: no iteration is long in one of a few rounds. */
export async function measuredWithShortTurns(
  what: string,
  cause: (reconciler: FlowReconciler) => void,
): Promise<FlowRun> {
  const first = await measured(what, cause);
  let last = first;
  const longest = [first.longestTurnMs];
  while (last.longestTurnMs >= last.mostTurnMs && longest.length < MOST_ROUNDS) {
    last = await measured(what, cause);
    assert.deepEqual(
      [last.result.seen, last.result.deleted],
      [first.result.seen, first.result.deleted],
    );
    longest.push(last.longestTurnMs);
  }
  const text = longest.map((ms) => ms.toFixed(1)).join(', ');
  assert.ok(last.longestTurnMs < last.mostTurnMs, `the longest turns of ${what} took ${text} ms`);
  return first.result;
}
