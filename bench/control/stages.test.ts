import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stagesOf } from './stages.ts';

const BEFORE = { queuedAtMs: 0, syncedAtMs: 0, syncSumMs: 100, propagationSumMs: undefined };
const WHOLE = { sentAtMs: 1_000, answeredAtMs: 1_100 };

describe('stagesOf()', () => {
  it('takes the times of kube-proxy: queued, synced, and how long the sync took', () => {
    const after = { ...BEFORE, queuedAtMs: 1_010, syncedAtMs: 1_090, syncSumMs: 160 };
    assert.deepEqual(stagesOf({ ...WHOLE, before: BEFORE, after }), {
      apiMs: 10,
      resolveMs: 20,
      writeMs: 60,
      packetMs: 10,
    });
  });

  it('believes the packet when the sync ends after it', () => {
    const after = { ...BEFORE, queuedAtMs: 1_010, syncedAtMs: 1_150, syncSumMs: 220 };
    assert.deepEqual(stagesOf({ ...WHOLE, before: BEFORE, after }), {
      apiMs: 10,
      resolveMs: 20,
      writeMs: 70,
      packetMs: 0,
    });
  });

  it("takes Fairlead's own time in place of two clocks of a millisecond", () => {
    const before = { ...BEFORE, propagationSumMs: 7 };
    const after = {
      queuedAtMs: 1_010,
      syncedAtMs: 1_010,
      syncSumMs: 100.25,
      propagationSumMs: 7.75,
    };
    assert.deepEqual(stagesOf({ ...WHOLE, before, after }), {
      apiMs: 10,
      resolveMs: 0.5,
      writeMs: 0.25,
      packetMs: 89.25,
    });
  });

  it('always adds up to the whole', () => {
    const after = { ...BEFORE, queuedAtMs: 900, syncedAtMs: 2_000, syncSumMs: 5_000 };
    const { apiMs, resolveMs, writeMs, packetMs } = stagesOf({ ...WHOLE, before: BEFORE, after });
    assert.equal(apiMs + resolveMs + writeMs + packetMs, 100);
  });
});
