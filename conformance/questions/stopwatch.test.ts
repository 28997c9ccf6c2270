import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStopwatch, stolenMsIn, takenShare } from './stopwatch.ts';

const stat = (stealTicks: number): string =>
  `cpu  100 0 200 4000 5 0 7 ${stealTicks} 0 0\ncpu0 50 0 100 2000 2 0 3 ${stealTicks} 0 0\n`;

test('reports steal time beside the elapsed time', () => {
  const moment = { ms: 1_000, stealTicks: 30 };
  const readStat = (): string => stat(moment.stealTicks);
  const lapse = startStopwatch({ readStat, nowMs: () => moment.ms });
  moment.ms = 3_000;
  assert.deepEqual(lapse(), { afterMs: 2_000, stolenMs: 0 });
  moment.stealTicks = 130;
  assert.deepEqual(lapse(), { afterMs: 2_000, stolenMs: 1_000 });
});

test('reads the line of all processors, and the one of this machine', () => {
  assert.equal(stolenMsIn(stat(12)), 120);
  assert.equal(stolenMsIn(''), 0);
  assert.ok(startStopwatch()().stolenMs >= 0);
});

test('takes the share of all processors', () => {
  const two =
    'cpu  1 0 0 0 0 0 0 9 0 0\ncpu0 1 0 0 0 0 0 0 4 0 0\ncpu1 0 0 0 0 0 0 0 5 0 0\nintr 7\n';
  assert.equal(takenShare({ afterMs: 1_000, stolenMs: 500 }, two), 0.25);
  assert.equal(takenShare({ afterMs: 0, stolenMs: 0 }, two), 0);
  assert.equal(takenShare({ afterMs: 1_000, stolenMs: 500 }, ''), 0);
});
