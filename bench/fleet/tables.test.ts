import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Machine } from '../machine.ts';
import type { FleetRun, FleetStep } from './record.ts';
import { fleetSections } from './tables.ts';

const MIB = 1024 ** 2;

/** A change costs 2 ms and 0.1 ms for each machine; each machine takes 1 MB. */
function step(machines: number, started: number): FleetStep {
  return {
    machines,
    start: {
      machines: started,
      cpuSeconds: 0.5 * started,
      sentBytes: MIB * started,
      tookSeconds: 3,
    },
    changes: { count: 100, cpuSeconds: 0.2 + 0.01 * machines, sentBytes: 100 * 1024 * machines },
    residentBytes: (300 + machines) * MIB,
  };
}

const RUN: FleetRun = {
  machine: {} as Machine,
  startedAt: '2026-01-01',
  size: { services: 1_000, endpointsPerService: 5 },
  tookSeconds: 1,
  visits: [
    {
      proxy: 'fairlead-nftables',
      steps: [step(1, 1), step(10, 9), step(40, 30)],
      herds: [
        {
          machines: 3,
          jitter: true,
          rightAfterMs: [100, 300, 200],
          cpuSeconds: 9,
          sentBytes: 3 * MIB,
        },
      ],
    },
  ],
};

describe('the tables of a fleet', () => {
  const [measured, computed, herd] = fleetSections(RUN);

  it('divide a start by the machines that were started, and a change by the changes', () => {
    assert.deepEqual(measured?.rows[1], [
      ...['fairlead-nftables', '10', '9 in 3.00 s'],
      ...['500 ms', '1.00 MB', '3.00 ms', '10.0 KB', '310 MB'],
    ]);
  });

  it('extend the line to the largest cluster', () => {
    assert.deepEqual(computed?.rows, [
      ['fairlead-nftables', 'CPU of a change', '2.00 ms', '100 µs', '502 ms', '100 %'],
      ['fairlead-nftables', 'bytes of a change', '0.00 KB', '1.00 KB', '4.88 MB', '100 %'],
      ['fairlead-nftables', 'memory', '300 MB', '1.00 MB', '5300 MB', '100 %'],
    ]);
  });

  it('tell when half of a herd is right, and all', () => {
    assert.deepEqual(herd?.rows, [
      ['fairlead-nftables', 'as shipped', '3', '200 ms', '300 ms', '9.00 s', '1.00 MB'],
    ]);
  });
});
