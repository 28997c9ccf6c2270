import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SoakResult } from './result.ts';
import type { Sample } from './sample.ts';
import { FIGURES, faultsOf, verdictOn } from './verdicts.ts';

const MIB = 1024 ** 2;

/** Ten minutes, a sample a second; memory with a sawtooth, as a collector makes it. */
function samples(of: (second: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 600 }, (_, second) => ({
    atSeconds: second,
    residentBytes: (100 + (second % 15)) * MIB,
    heapBytes: (20 + (second % 15)) * MIB,
    descriptors: 30 + (second % 4),
    p99Ms: 2 + (second % 3),
    changes: 100,
    ...of(second),
  }));
}

function faults(of: (second: number) => Partial<Sample>, more: Partial<SoakResult> = {}): string[] {
  return faultsOf({
    mode: 'any',
    minutes: 10,
    isLeakPlanted: false,
    writes: { churn: 1, rolling: 1, flapping: 1 },
    connections: { made: 10, failed: 0, example: '' },
    differences: 0,
    samples: samples(of),
    ...more,
  });
}

describe('the verdict of a soak', () => {
  it('allows for a scrape without an answer, and not for many', () => {
    assert.deepEqual(
      faults(() => ({}), { unansweredSamples: 5 }),
      [],
    );
    assert.deepEqual(
      faults(() => ({}), { unansweredSamples: 60 }),
      ['the agent left 60 of 660 scrapes unanswered'],
    );
  });

  it('is flat for a sawtooth, and for memory that grew during the warm-up only', () => {
    assert.deepEqual(
      faults(() => ({})),
      [],
    );
    const warm = (second: number) => ({ residentBytes: (60 + Math.min(second, 250) / 5) * MIB });
    assert.deepEqual(faults(warm), []);
  });

  it('is undecided about growth that is sure and small, and passes', () => {
    const rises = (second: number) => ({ residentBytes: (100 + second / 300) * MIB });
    assert.deepEqual(faults(rises), []);
    const [resident, heap] = FIGURES.map((figure) => verdictOn(figure, samples(rises)).verdict);
    assert.deepEqual([resident, heap], ['undecided', 'flat']);
  });

  it('finds a leak of 60 MB in an hour below a sawtooth of 15 MB', () => {
    const leaks = (second: number) => ({ heapBytes: (20 + (second % 15) + second / 60) * MIB });
    assert.deepEqual(faults(leaks), ['grows: heap in use']);
  });

  it('finds a descriptor that is lost each minute, and changes that take longer and longer', () => {
    const loses = (second: number) => ({
      descriptors: 30 + (second % 4) + Math.floor(second / 60),
      p99Ms: 2 + (second % 3) + second / 100,
    });
    assert.deepEqual(faults(loses), ['grows: file descriptors', 'grows: change to kernel, p99']);
  });

  it('is not passed with a failed connection, an ended agent or a difference', () => {
    const connections = { made: 9, failed: 1, example: '' };
    assert.deepEqual(
      faults(() => ({}), { connections, ended: 'code 1', differences: 2 }),
      ['the agent ended: code 1', '1 connections failed', '2 differences in the kernel at the end'],
    );
  });
});
