import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { haproxyConfiguration, haproxyRules } from './haproxy.ts';
import { figuresOf } from './load.ts';
import { emptyForwardingRun, type ForwardingRun, type LoadFigures } from './record.ts';
import { forwardingGoals, forwardingSection, memorySection } from './tables.ts';

const FORWARDED = [{ address: '10.111.0.2', port: 80, endpoints: ['10.0.0.1:9000'] }];
const SIZE = { services: 100, endpointsPerService: 5 };

function slice(processUs: number): LoadFigures {
  return { perSecond: 100, failed: 0, processUs, clientUs: 10, serverUs: 20, othersUs: 1 };
}

function run(ours: readonly number[], peer: readonly number[]): ForwardingRun {
  const empty = emptyForwardingRun({
    machine: {} as ForwardingRun['machine'],
    haproxy: '2.6',
    startedAt: '',
  });
  const visit = (way: string, values: readonly number[]) => {
    const slices = values.map(slice);
    const warm = { connect: slices, request: slices, transfer: slices };
    return { size: SIZE, way, round: 1, cold: slice(100), warm };
  };
  empty.visits.push(visit('fairlead-userspace, 1 thread', ours), {
    ...visit('haproxy, 1 thread', peer),
    unread: { connections: 1, takenBytes: 5, processBytes: 1, queueBytes: 2 },
    held: { connections: 10, processBytes: 2048, kernelBytes: 4096 },
  });
  return empty;
}

describe('figuresOf', () => {
  const loaded = { seconds: 2, count: 1_000, failed: 3, cpuSeconds: [0.01, 0.02, 0.03, 0.04] };

  it('assigns CPU time for each connection to those who spent it', () => {
    const figures = figuresOf('connect', loaded, { forwarding: [7], others: [8] });
    assert.deepEqual(
      [figures.clientUs, figures.serverUs, figures.processUs, figures.othersUs].map(Math.round),
      [10, 20, 30, 40],
    );
    assert.equal(figures.perSecond, 500);
    assert.equal(figures.failed, 3);
  });

  it('counts bytes in megabytes', () => {
    const bytes = { ...loaded, count: 10_000_000 };
    const { processUs } = figuresOf('transfer', bytes, { forwarding: [7], others: [8] });
    assert.equal(Math.round(processUs), 3_000);
  });

  it('has no cost for a time in which nothing was forwarded', () => {
    const stalled = { ...loaded, count: 0 };
    assert.throws(() => figuresOf('connect', stalled, { forwarding: [7], others: [8] }), {
      code: 'LAB_DEADLINE',
    });
  });
});

describe('forwardingSection', () => {
  it('has no cost of slices in which nothing was forwarded, and counts them', () => {
    const stalled = run([10, 10], [10, 10]);
    const [ours] = stalled.visits;
    const nothing = { ...slice(Number.NaN), perSecond: 0 };
    const warm = { connect: [slice(10), nothing], request: [slice(10)], transfer: [slice(10)] };
    stalled.visits[0] = { ...(ours as (typeof stalled.visits)[0]), warm };
    const [row = []] = forwardingSection(stalled).rows;
    assert.ok(!row.join(' ').includes('NaN'), row.join(' '));
    assert.equal(row.at(-1), '0, and nothing in 1 slices');
  });

  it('keeps the figures of one round when another ended early, and says so', () => {
    const measured = run([10, 10], [10, 10]);
    const [ours] = measured.visits as [(typeof measured.visits)[0]];
    const warm = { connect: [], request: [], transfer: [] };
    measured.visits.push({ ...ours, round: 2, warm, ended: 'ended: no connect in 0.1 s' });
    const [row = []] = forwardingSection(measured).rows;
    assert.match(row[2] ?? '', /^10/);
    assert.equal(row.at(-1), '0, a round ended: no connect in 0.1 s');
  });
});

describe('HAProxy beside Fairlead', () => {
  it('has a listener for each Service, at the port that the map gives', () => {
    const options = { name: 'haproxy', threads: 1, mostConnections: 100, index: 1 };
    const text = haproxyConfiguration(FORWARDED, { ...options, bufferBytes: 131_072 });
    assert.match(text, /nbthread 1\n/);
    assert.match(text, /tune\.bufsize 131072\n/);
    assert.match(text, /bind 169\.254\.119\.2:11000\n {2}server e0 10\.0\.0\.1:9000\n/);
    assert.match(haproxyRules(FORWARDED, 1), /12\.111\.0\.2 \. 80 : 169\.254\.119\.2 \. 11000/);
  });
});

describe('the report', () => {
  it('compares slices that ran right after each other', () => {
    const goals = forwardingGoals(run([50, 100, 200], [100, 200, 400]));
    assert.equal(goals.length, 3);
    assert.deepEqual(new Set(goals.map(({ figure }) => figure)), new Set([0.5]));
  });

  it('shows the process and all that take part', () => {
    const [row] = forwardingSection(run([50], [100])).rows;
    assert.deepEqual(row?.slice(0, 5), [
      '100 x 5',
      'fairlead-userspace, 1 thread',
      '50.0',
      '81.0',
      '100',
    ]);
    const [memory] = memorySection(run([50], [100])).rows;
    assert.deepEqual(memory?.slice(2, 5), ['10', '2.00 KB', '4.00 KB']);
  });
});
