import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Machine } from '../machine.ts';
import { controlPlaneGoals } from './goals.ts';
import type { ControlPlaneVisit } from './record.ts';
import { controlPlanesSection } from './table.ts';

const MIB = 1024 ** 2;

function visit(round: number, startSeconds: number): ControlPlaneVisit {
  return {
    size: { services: 1_000, endpointsPerService: 5 },
    name: 'fairlead-nftables',
    round,
    start: {
      cpuSeconds: startSeconds,
      memory: {
        residentBytes: 100 * MIB,
        peakBytes: 0,
        proportionalBytes: 0,
        anonymousBytes: 40 * MIB,
        programsBytes: 0,
      },
    },
    changes: { count: 300, cpuSeconds: 0.6 },
    idleCpuMsPerSecond: 2,
  };
}

describe('the table of control planes', () => {
  const visits = [visit(1, 1), visit(2, 2)];
  const run = { machine: {} as Machine, startedAt: '2026-01-01', tookSeconds: 1, visits };

  it('has one row for all rounds, and divides the CPU of the changes by the changes', () => {
    const { head, rows } = controlPlanesSection(run);
    assert.deepEqual(rows, [
      [
        ...['1,000 x 5', 'fairlead-nftables', '1.50 s (1.00 s to 2.00 s)'],
        ...['2.00 ms (2.00 ms to 2.00 ms)', '2.00 ms', '100 MB', '40 MB'],
      ],
    ]);
    assert.equal(rows[0]?.length, head.length);
  });

  it('compares each of ours with Cilium at the same size', () => {
    const theirs = { ...visit(1, 3), name: 'cilium-load-balancer' };
    const goals = controlPlaneGoals({ ...run, visits: [...visits, theirs] });
    assert.deepEqual(
      goals.map(({ what, figure }) => [what, figure]),
      [
        ['fairlead-nftables: CPU of a start at 1,000 x 5, relative to Cilium', 0.5],
        ['fairlead-nftables: CPU of a change at 1,000 x 5, relative to Cilium', 1],
        ['fairlead-nftables: memory at 1,000 x 5, relative to Cilium', 1],
      ],
    );
  });
});
