import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differenceOf } from './known-difference.ts';
import type { KnownDifference } from './scenario.ts';

function because(reason: string): KnownDifference {
  return { expect: { silent: true }, reason };
}

describe('differenceOf()', () => {
  const otherwise = {
    a: because('proxy'),
    '@vxlan': because('network'),
    'a@vxlan': because('both'),
  };

  it('finds the difference of a proxy on every network that has none of its own', () => {
    assert.equal(differenceOf(otherwise, { proxy: 'a', network: 'plain' })?.reason, 'proxy');
    assert.equal(differenceOf(otherwise, { proxy: 'b', network: 'plain' }), undefined);
    assert.equal(differenceOf(undefined, { proxy: 'a', network: 'plain' }), undefined);
  });

  it('prefers what names both, then what names the network', () => {
    assert.equal(differenceOf(otherwise, { proxy: 'a', network: 'vxlan' })?.reason, 'both');
    assert.equal(differenceOf(otherwise, { proxy: 'b', network: 'vxlan' })?.reason, 'network');
  });
});
