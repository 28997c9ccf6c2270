import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coveringRanges, overlaps } from './ranges.ts';

describe('coveringRanges', () => {
  it('covers the ranges of nodes with one range of each family', () => {
    const nodes = ['10.244.3.0/24', 'fd00:1:0:3::/64', '10.244.0.0/24', 'fd00:1::/64'];
    assert.deepEqual(coveringRanges(nodes), ['10.244.0.0/22', 'fd00:1::/62']);
  });

  it('keeps a single range, and ignores what is none', () => {
    assert.deepEqual(coveringRanges(['10.42.1.0/24', '10.42.1.0/24', 'x']), ['10.42.1.0/24']);
    assert.deepEqual(coveringRanges([]), []);
  });

  it('gives no range for ranges that share nothing: it would contain the machine itself', () => {
    assert.deepEqual(coveringRanges(['10.0.0.0/24', '192.168.0.0/16']), []);
  });
});

describe('overlaps', () => {
  const own = [
    { interface: 'eth0', cidr: '10.96.7.3/24' },
    { interface: 'eth1', cidr: '192.0.2.7/24' },
  ];

  it('finds a network inside of a range, and a range inside of a network', () => {
    assert.deepEqual(overlaps(['10.96.0.0/12', '192.0.2.128/25'], own), [
      { range: '10.96.0.0/12', with: own[0] },
      { range: '192.0.2.128/25', with: own[1] },
    ]);
  });

  it('finds none between networks side by side, or of different families', () => {
    assert.deepEqual(overlaps(['10.112.0.0/12', 'fd00::/8'], own), []);
  });
});
