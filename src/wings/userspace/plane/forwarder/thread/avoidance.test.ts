import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Avoidance } from './avoidance.ts';

const SLOT = 7;
const openSlots = () => new SharedArrayBuffer((SLOT + 1) * Int32Array.BYTES_PER_ELEMENT);

/** How long the endpoint is avoided from that time on, in ms. */
function avoidedMs(avoidance: Avoidance, nowMs: number): number {
  for (let ms = 0; ms <= 100_000; ms += 100) {
    if (!avoidance.isAvoided(SLOT, nowMs + ms)) return ms;
  }
  return Number.POSITIVE_INFINITY;
}

describe('avoided endpoints', () => {
  it('are avoided for 1, 2, 4 … 30 s', () => {
    const avoidance = new Avoidance(openSlots());
    let nowMs = 1_000_000;
    const times: number[] = [];
    for (let failure = 0; failure < 7; failure++) {
      avoidance.noteFailure(SLOT, nowMs);
      times.push(avoidedMs(avoidance, nowMs));
      nowMs += times.at(-1) ?? 0;
    }
    assert.deepEqual(times, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    avoidance.noteSuccess(SLOT);
    assert.equal(avoidedMs(avoidance, nowMs), 0);
    avoidance.noteFailure(SLOT, nowMs);
    assert.equal(avoidedMs(avoidance, nowMs), 1000);
  });

  it('count failures at the same time once', () => {
    const avoidance = new Avoidance(openSlots());
    for (let failure = 0; failure < 50; failure++) avoidance.noteFailure(SLOT, 1_000_000);
    assert.equal(avoidedMs(avoidance, 1_000_000), 1000);
  });

  it('are seen by other threads, and a success of another thread ends the series', () => {
    const shared = openSlots();
    const [one, other] = [new Avoidance(shared), new Avoidance(shared)];
    one.noteFailure(SLOT, 1_000_000);
    assert.ok(other.isAvoided(SLOT, 1_000_500));
    one.noteFailure(SLOT, 1_001_000);
    other.noteSuccess(SLOT);
    assert.equal(avoidedMs(one, 1_001_000), 0);
    one.noteFailure(SLOT, 1_010_000);
    assert.equal(avoidedMs(one, 1_010_000), 1000);
  });

  it('are tried by one connection first when the time is over', () => {
    const avoidance = new Avoidance(openSlots());
    avoidance.noteFailure(SLOT, 1_000_000);
    assert.ok(!avoidance.isAvoided(SLOT, 1_001_000));
    avoidance.noteTrial(SLOT, 1_001_000);
    assert.ok(avoidance.isAvoided(SLOT, 1_001_400));
    avoidance.noteFailure(SLOT, 1_001_300);
    assert.equal(avoidedMs(avoidance, 1_001_300), 2000);
  });

  it('are avoided for longer after each trial, also one that is refused at once', () => {
    const avoidance = new Avoidance(openSlots());
    let nowMs = 1_000_037.3;
    avoidance.noteFailure(SLOT, nowMs);
    const times: number[] = [];
    for (let trial = 0; trial < 6; trial++) {
      nowMs += avoidedMs(avoidance, nowMs);
      avoidance.noteTrial(SLOT, nowMs);
      avoidance.noteFailure(SLOT, nowMs + 0.2);
      times.push(avoidedMs(avoidance, nowMs));
    }
    assert.deepEqual(
      times.map((ms) => Math.floor(ms / 1000)),
      [2, 4, 8, 16, 30, 30],
    );
  });
});
