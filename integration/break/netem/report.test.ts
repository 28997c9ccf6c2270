import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { netemVerdict } from './report.ts';
import type { WayCount } from './way.ts';

function count(name: string, answered: number, failed: number): WayCount {
  return { name, answered, failed, slowestMs: 0, faults: failed > 0 ? ['reset'] : [] };
}

function verdict(direct: WayCount, ...through: WayCount[]): string[] {
  return netemVerdict({ proxy: 'any', direct, through });
}

describe('netemVerdict', () => {
  it('has no fault where as many fail as on the way to the pods themselves', () => {
    assert.deepEqual(verdict(count('pods', 100, 1), count('ClusterIP', 100, 1)), []);
  });

  it('tells of failures that direct connections did not have', () => {
    const [fault = ''] = verdict(count('pods', 100, 0), count('ClusterIP', 100, 1));
    assert.match(fault, /1 connections to ClusterIP failed, 0 to the pods/);
  });

  it('takes no answers at all for a fault', () => {
    assert.equal(verdict(count('pods', 0, 0), count('ClusterIP', 5, 0)).length, 1);
  });
});
