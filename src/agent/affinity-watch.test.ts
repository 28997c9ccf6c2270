import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeAffinity, hasAffinityRoom } from './affinity-watch.ts';

describe('the condition affinityRoom', () => {
  it('is true while new clients are stored, and has their number', () => {
    const fill = { remembered: 1500, room: 524_288, full: [] };
    assert.equal(hasAffinityRoom(fill), true);
    assert.equal(describeAffinity(fill), '1,500 of 524,288 session affinity entries are used');
    assert.equal(hasAffinityRoom(undefined), true);
  });

  it('names the Services whose new clients are not stored', () => {
    const full = ['a/x/UDP/IPv4', 'b/x/UDP/IPv4', 'c/x/UDP/IPv4', 'd/x/UDP/IPv4'];
    const fill = { remembered: 40_000, room: 524_288, full };
    assert.equal(hasAffinityRoom(fill), false);
    assert.match(describeAffinity(fill), /new clients of a\/x\S+, b\/x\S+, c\/x\S+ and 1 more/);
  });

  it('is false when there is hardly any room at all', () => {
    assert.equal(hasAffinityRoom({ remembered: 95, room: 100, full: [] }), false);
  });
});
