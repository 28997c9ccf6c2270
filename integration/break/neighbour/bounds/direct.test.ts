import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Connection } from '../../faults/plane/connections.ts';
import { apart } from './direct.ts';

const failed: Connection = { begunMs: 1_000, answeredMs: 6_000, error: 'no answer' };
const quick: Connection = { begunMs: 2_000, answeredMs: 2_005, by: 'left' };
const slow: Connection = { begunMs: 4_000, answeredMs: 7_000, by: 'left' };

describe('apart()', () => {
  it('counts a failure while direct connections are answered', () => {
    assert.deepEqual(apart([failed], [quick]), { stalled: 0, failed: 1 });
  });

  it('does not count one while a direct connection stands still, or fails', () => {
    assert.deepEqual(apart([failed], [quick, slow]), { stalled: 1, failed: 0 });
    assert.deepEqual(apart([failed], [{ ...failed, begunMs: 5_500 }]), { stalled: 1, failed: 0 });
  });

  it('counts one that a standstill neither began in nor ended in', () => {
    const later = { ...failed, begunMs: 8_000, answeredMs: 13_000 };
    assert.deepEqual(apart([later], [slow]), { stalled: 0, failed: 1 });
  });
});
