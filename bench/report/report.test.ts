import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadSize } from '../../lab/load/objects.ts';
import { ciBounds } from '../ci.ts';
import type { Machine } from '../machine.ts';
import type { Memory, Run, Visit } from '../record.ts';
import { emptyRun } from '../run-file.ts';
import { boundRow, isKept } from './bounds.ts';
import { goalsOf } from './goals.ts';
import { headlinesSection } from './headlines.ts';
import { plotsOf } from './plots.ts';
import { sectionsOf } from './sections.ts';
import { terminalReport } from './terminal.ts';

const MACHINE: Machine = {
  cpus: '2 x something',
  memoryGib: 8,
  kernel: '6.1',
  interruptTime: 'with the task',
  node: 'v24',
  kubernetes: 'v1',
  nft: 'v1',
  iptables: 'v1',
  fairlead: 'abc',
  shippedAs: 'one file',
  loadBefore: 0,
};

interface Costs {
  readonly changeMs?: number;
  readonly heldMs?: number;
  readonly writtenMs?: number;
  readonly megabytes?: number;
  readonly coldMs?: number;
}

function memory(megabytes: number): Memory {
  const residentBytes = megabytes * 1024 ** 2;
  return { residentBytes, peakBytes: 0, proportionalBytes: 0, programsBytes: 0 };
}

function made(size: LoadSize, proxy: string, costs: Costs = {}): Visit {
  const { changeMs = 13, heldMs = 1, writtenMs = 10, megabytes = 100, coldMs = 1_000 } = costs;
  const cost = { cpuSeconds: 1, apiBytes: 1_000, memory: memory(megabytes) };
  const asked = { perSecond: 10_000, failed: 0, cpuMicroseconds: 80, p50Us: 20, p99Us: 90 };
  return {
    size,
    proxy,
    round: 1,
    tookSeconds: 10,
    cold: { ...cost, answeredMs: coldMs, programmedMs: coldMs },
    changes: {
      ...cost,
      cpuSeconds: proxy.startsWith('upstream') ? 80 : 1,
      sinceSentMs: [changeMs, changeMs],
      writtenMs: [writtenMs, writtenMs],
      stages: [{ apiMs: 8, resolveMs: heldMs / 2, writeMs: heldMs / 2, packetMs: 3 }],
    },
    receipt: { count: 2, p50Ms: heldMs, p90Ms: 2, p99Ms: 3, maxMs: 4 },
    data: (['connect', 'request'] as const).map((mode) => ({
      mode,
      direct: asked,
      beside: asked,
      rateShares: [0.97, 0.98, 0.99],
      cpuShares: [1.01, 1.02, 1.03],
    })),
  };
}

function runOf(...visits: Visit[]): Run {
  const run = emptyRun({ machine: MACHINE, startedAt: '2026-01-01', planted: undefined });
  run.visits.push(...visits);
  return run;
}

const SMALL: LoadSize = { services: 1_000, endpointsPerService: 5 };
const LARGE: LoadSize = { services: 50_000, endpointsPerService: 5 };
const REQUESTS = ': requests on kept connections at 100 Services, relative to direct';
const broken = (run: Run): string[] =>
  ciBounds(run)
    .filter((bound) => !isKept(bound))
    .map(({ what }) => what.replace(/ \(usually.*/, ''));

describe('ciBounds()', () => {
  const peer = made(SMALL, 'upstream-nftables', { megabytes: 75, changeMs: 500 });

  it('keeps what is as usual', () => {
    assert.deepEqual(broken(runOf(made(SMALL, 'fairlead-nftables'), peer)), []);
  });

  it('notices 20 ms more for each change, and 100 MB more', () => {
    const slow = made(SMALL, 'fairlead-nftables', { changeMs: 33, heldMs: 21 });
    assert.equal(broken(runOf(slow, peer)).length, 2);
    const leaking = made(SMALL, 'fairlead-nftables', { megabytes: 200 });
    assert.deepEqual(broken(runOf(leaking, peer)), [
      'memory after the start, relative to upstream',
      'memory after the changes, relative to upstream',
    ]);
  });

  it('notices what doubled', () => {
    const slow = made(SMALL, 'fairlead-nftables', { heldMs: 2.6 });
    assert.equal(broken(runOf(slow, peer)).length, 1);
  });

  it('takes the median: one disturbed round is no regression, one calm round no excuse', () => {
    const disturbed = made(SMALL, 'fairlead-nftables', { changeMs: 40, heldMs: 12 });
    const calm = made(SMALL, 'fairlead-nftables');
    assert.deepEqual(broken(runOf(calm, disturbed, calm, peer)), []);
    assert.equal(broken(runOf(disturbed, calm, disturbed, peer)).length, 2);
  });

  it('says the median, and where the middle half is', () => {
    const rounds = [90, 100, 180].map((megabytes) =>
      made(SMALL, 'fairlead-nftables', { megabytes }),
    );
    const bound = ciBounds(runOf(...rounds, made(SMALL, 'upstream-nftables'))).find(({ what }) =>
      what.startsWith('memory after the start'),
    );
    assert.ok(bound);
    assert.equal(boundRow(bound)[2], '1.00 x (0.90 x to 1.80 x)');
  });

  it('notices what doubled although the API server was disturbed in another round', () => {
    const doubled = { changeMs: 30, heldMs: 2.6 };
    const calm = made(SMALL, 'fairlead-nftables', doubled);
    const noisy = made(SMALL, 'fairlead-nftables', { ...doubled, writtenMs: 25 });
    assert.deepEqual(broken(runOf(noisy, calm, calm, peer)), [
      'one change, write to packet p50, of the API server answering the write',
      'one change, receipt to acknowledgement p50, of the API server answering the write',
    ]);
  });

  it('fails for a run that measured nothing', () => {
    assert.equal(broken(runOf()).length, ciBounds(runOf()).length);
  });
});

describe('the report', () => {
  const run = runOf(
    made(SMALL, 'fairlead-nftables'),
    made(SMALL, 'upstream-nftables'),
    made(LARGE, 'fairlead-nftables', { coldMs: 12_000 }),
    { size: LARGE, proxy: 'upstream-nftables', round: 1, tookSeconds: 0, ended: 'not run: why' },
  );

  it('says why in place of a figure', () => {
    assert.match(terminalReport(run), /50,000 x 5 +upstream-nftables +not run: why/);
  });

  it('reports how many pairs of slices had no answer', () => {
    assert.doesNotMatch(terminalReport(run), /pairs of turns/);
    const visit = made(SMALL, 'fairlead-nftables');
    const data =
      visit.data?.map((each) => ({ ...each, rateShares: [0, 1], pairsLeftOut: 3 })) ?? [];
    assert.match(
      terminalReport(runOf({ ...visit, data })),
      /Of 10 pairs of turns 6 are discarded .* and 2 count as 0/,
    );
  });

  it('gives every row of a table at most the columns of its head', () => {
    for (const { head, rows } of sectionsOf(run)) {
      for (const row of rows) assert.ok(row.length <= head.length);
    }
  });

  it('opens with ten lines, each with its figures and the command that repeats it', () => {
    const size = { services: 10_000, endpointsPerService: 10 };
    const ours = made(size, 'fairlead-nftables', { changeMs: 11 });
    const peer = made(size, 'upstream-nftables', { changeMs: 440 });
    const { rows } = headlinesSection(runOf(ours, peer));
    assert.equal(rows.length, 10);
    const what = 'one changed endpoint, write to packet';
    const command = '`npm run bench -- --measure change --sizes 10000x10`';
    assert.deepEqual(rows[0], [what, '10,000 x 10', '11.0 ms', '440 ms', '1/40', '', command]);
    const unmeasured = rows.find(([, cluster]) => cluster === '50,000 x 5');
    assert.equal(unmeasured?.[2], 'not measured');
  });

  it('compares the figures with the goals, and marks those that were not measured', () => {
    const goals = goalsOf(run);
    const cold = goals.find(({ what }) => what === 'cold start at 50,000 x 5');
    assert.equal(cold && isKept(cold), false);
    assert.ok(goals.some(({ figure }) => Number.isNaN(figure)));
  });

  it('holds the eBPF modes to their share of direct, and says how sure it is', () => {
    const few = { services: 100, endpointsPerService: 5 };
    const goals = goalsOf(runOf(made(few, 'fairlead-socket-ebpf'), made(few, 'fairlead-tc-ebpf')));
    const kept = goals.filter((goal) => goal.what.includes('at 100 Services') && isKept(goal));
    assert.deepEqual(kept.map(boundRow), [
      [`fairlead-socket-ebpf${REQUESTS}`, 'at least 0.970', '0.980 (0.970 to 0.990)', 'yes'],
      [`fairlead-tc-ebpf${REQUESTS}`, 'at least 0.930', '0.980 (0.970 to 0.990)', 'yes'],
    ]);
    const slow = made(few, 'fairlead-socket-ebpf');
    const data = slow.data?.map((each) => ({ ...each, rateShares: [0.95, 0.96, 0.98] })) ?? [];
    const [goal] = goalsOf(runOf({ ...slow, data })).filter(({ what }) => what.endsWith(REQUESTS));
    assert.equal(goal && isKept(goal), false);
  });

  it('draws the same plots from the same figures, for light and dark', () => {
    const plots = plotsOf(run);
    assert.deepEqual(
      [...plots.keys()],
      ['change.svg', 'cold.svg', 'memory.svg', 'data.svg', 'data-cpu.svg'],
    );
    for (const [name, svg] of plots) {
      assert.match(svg, /prefers-color-scheme: dark/);
      assert.doesNotMatch(svg, /NaN|Infinity|undefined/, name);
      assert.equal(svg, plotsOf(run).get(name));
    }
  });
});
