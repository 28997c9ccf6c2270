import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Machine } from './machine.ts';
import { packRun, unpackRun } from './packed-run.ts';
import type { AskedFigures, Memory, Run } from './record.ts';
import { emptyRun } from './run-file.ts';

const MEMORY: Memory = {
  residentBytes: 123_456_789,
  peakBytes: 234_567_890,
  proportionalBytes: 1,
  programsBytes: 0,
};
const ASKED: AskedFigures = { perSecond: 21_499.5, failed: 0, cpuMicroseconds: 45.8111 };
const COST = { cpuSeconds: 1.25, apiBytes: 1_000, memory: MEMORY };

function measuredRun(): Run {
  const run = emptyRun({ machine: {} as Machine, startedAt: '2026-01-01', planted: undefined });
  run.visits.push(
    { size: { services: 0, endpointsPerService: 0 }, proxy: 'no proxy', round: 1, tookSeconds: 2 },
    {
      size: { services: 5, endpointsPerService: 1 },
      proxy: 'fairlead-nftables',
      round: 1,
      tookSeconds: 17.5,
      ended: 'said "no", and\nended',
      cold: { ...COST, answeredMs: 10, programmedMs: 9.5 },
      changes: {
        ...COST,
        sinceSentMs: [1.5, 2.5],
        writtenMs: [1, 2],
        stages: [
          { apiMs: 1, resolveMs: 2, writeMs: 3, packetMs: 4 },
          { apiMs: 5, resolveMs: 6, writeMs: 7, packetMs: 8 },
        ],
      },
      data: (['connect', 'request'] as const).map((mode) => ({
        ...{ mode, direct: ASKED, beside: ASKED },
        rateShares: [0, 0.966, 1.007],
        cpuShares: [1.366],
        pairsLeftOut: 0,
      })),
    },
  );
  run.limits.push({
    ...{ size: { services: 5, endpointsPerService: 1 }, proxy: 'fairlead-nftables' },
    by: 'netlink',
    milliseconds: 3,
  });
  return run;
}

describe('a packed run', () => {
  it('is read back as it was', () => {
    const run = measuredRun();
    assert.deepEqual(unpackRun(packRun(run)), JSON.parse(JSON.stringify(run)));
    assert.deepEqual(unpackRun(packRun({ ...run, visits: [], limits: [] })).visits, []);
  });

  it('has a line for each measurement', () => {
    const lines = packRun(measuredRun()).trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => line.slice(0, 10)),
      [
        ...['{"format":', '"visits":[', '{"size":{"', '{"size":{"'],
        ...[' "cold":{"', ' "changes"', ' "data":[', '  {"mode":', '  {"mode":'],
        ...['],', '"limits":[', '{"size":{"', ']}'],
      ],
    );
  });
});
