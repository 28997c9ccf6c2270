import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differenceOf, expectationOf, labelOf } from './known-difference.ts';
import type { KnownDifference, Question } from './scenario.ts';

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

describe('expectationOf()', () => {
  const escaping = (from: string): Question => ({
    from,
    to: { clusterIP: 'web' },
    expect: { silent: true },
    escapes: true,
  });
  const escapes = (from: string, network: string): boolean | undefined =>
    expectationOf(escaping(from), { proxy: 'a', network }).escapes;

  it('expects no packet from outside to leave a node that drops transit', () => {
    assert.equal(escapes('client@node1', 'docker'), false);
    assert.equal(escapes('machine@node1', 'pod-policy'), false);
    assert.equal(escapes('client@node1', 'vxlan'), true);
  });

  it('expects those of pods and nodes to leave everywhere', () => {
    assert.equal(escapes('pod:near', 'docker'), true);
    assert.equal(escapes('node1', 'docker'), true);
  });
});

describe('labelOf()', () => {
  it('names the network unless it is the default one', () => {
    assert.equal(labelOf({ proxy: 'a', network: 'plain' }), 'a');
    assert.equal(labelOf({ proxy: 'a', network: 'vxlan' }), 'a@vxlan');
  });
});
