import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayTarget } from './localhost-relay.ts';

const A = { address: '10.0.0.1', port: 80, local: true };
const B = { address: '10.0.0.2', port: 80, local: false };
const HOUR_MS = 3_600_000;

/** Returns these numbers one after the other, and the last one from then on. */
function sequence(...values: number[]): () => number {
  return () => (values.length > 1 ? values.shift() : values[0]) ?? 0;
}

describe('the endpoint of a connection to a node port on loopback', () => {
  it('is chosen for each connection', () => {
    const target = new RelayTarget(
      { endpoints: [A, B], affinitySeconds: 0 },
      sequence(0, 0.99, 0.4),
    );
    assert.deepEqual([target.pick(0), target.pick(0), target.pick(0)], [A, B, A]);
  });

  it('is kept with session affinity until no connection came for the timeout', () => {
    const target = new RelayTarget({ endpoints: [A, B], affinitySeconds: 3600 }, sequence(0, 0.99));
    assert.equal(target.pick(0), A);
    assert.equal(target.pick(HOUR_MS), A);
    assert.equal(target.pick(2 * HOUR_MS), A);
    assert.equal(target.pick(3 * HOUR_MS + 1), B);
  });

  it('changes with session affinity when it is removed, and when the timeout changes', () => {
    const target = new RelayTarget({ endpoints: [A, B], affinitySeconds: 60 }, sequence(0, 0.99));
    assert.equal(target.pick(0), A);
    target.take({ endpoints: [B], affinitySeconds: 60 });
    assert.equal(target.pick(0), B);
    target.take({ endpoints: [A, B], affinitySeconds: 60 });
    assert.equal(target.pick(0), B);
    const other = new RelayTarget({ endpoints: [A, B], affinitySeconds: 60 }, sequence(0, 0.99));
    assert.equal(other.pick(0), A);
    other.take({ endpoints: [A, B], affinitySeconds: 30 });
    assert.equal(other.pick(0), B);
  });

  it('is undefined without endpoints', () => {
    const target = new RelayTarget({ endpoints: [], affinitySeconds: 60 }, () => 0);
    assert.equal(target.pick(0), undefined);
  });
});
