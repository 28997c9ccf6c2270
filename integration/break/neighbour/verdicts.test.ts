import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NeighbourResult } from './result.ts';
import { verdictsOf } from './verdicts.ts';
import type { StickyClient } from './victim/sticky-clients.ts';

const NAMES = ['left', 'middle', 'right'] as const;
const spread: StickyClient[] = Array.from({ length: 120 }, (_, index) => {
  const name = NAMES[index % 3];
  return { first: name, again: name };
});
const change = { sentAtMs: 0, writtenMs: 1, toldMs: 1, heldMs: 2, wholeMs: 3 };

function resultWith(of: Partial<NeighbourResult>): NeighbourResult {
  return {
    proxy: 'fairlead-nftables',
    seed: 1,
    seconds: 60,
    isGentle: false,
    calm: [change],
    changes: [change],
    attacks: [],
    probes: [{ atMs: 0, tookMs: 5, status: 200 }],
    memory: [{ atMs: 0, residentBytes: 1, slabBytes: 1 }],
    slabPeakBytes: 1,
    connections: { made: 10, failed: 0, example: '' },
    clients: spread,
    aftermath: { convergedSeconds: 1, emptiedSeconds: 1, slabBytes: 0 },
    ...of,
  };
}

function broken(of: Partial<NeighbourResult>): string[] {
  return verdictsOf(resultWith(of))
    .filter(({ isKept }) => !isKept)
    .map(({ what }) => what);
}

describe('verdictsOf()', () => {
  it('keeps all bounds of a neighbour that was not hurt', () => {
    assert.deepEqual(broken({}), []);
  });

  it('breaks on a change that never came, and on none at all', () => {
    const never = { ...change, heldMs: Number.POSITIVE_INFINITY };
    assert.equal(broken({ changes: [never] }).length, 1);
    assert.equal(broken({ changes: [] }).length, 1);
  });

  it('breaks on a /livez that is slow or not well', () => {
    assert.equal(broken({ probes: [{ atMs: 0, tookMs: 1_500, status: 200 }] }).length, 1);
    assert.equal(broken({ probes: [{ atMs: 0, tookMs: 5, status: 503 }] }).length, 1);
  });

  it('breaks when the latest clients all meet the same endpoint, after many were spread', () => {
    const piled = Array.from({ length: 60 }, () => ({ first: 'left', again: 'left' }));
    const what = broken({ clients: [...spread, ...spread, ...piled] });
    assert.deepEqual(what, ['largest share of one of 3 endpoints']);
  });

  it('breaks when a client strays, or has no answer', () => {
    const strayed = { first: 'left', again: 'right' };
    assert.equal(broken({ clients: [...spread, strayed] }).length, 1);
    assert.equal(broken({ clients: [...spread, { first: undefined, again: 'left' }] }).length, 1);
  });

  it('breaks when the kernel never has what is wanted', () => {
    const aftermath = { convergedSeconds: Number.POSITIVE_INFINITY, difference: '3 differences' };
    assert.equal(broken({ aftermath }).length, 1);
  });
});
