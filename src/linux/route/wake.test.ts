import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { pause } from '../pause.ts';
import { Wake } from './wake.ts';

describe('a wake', () => {
  it('keeps a call until somebody waits, and several are one', async () => {
    const wake = new Wake();
    const { signal } = new AbortController();
    wake.call();
    wake.call();
    await wake.wait(signal);
    let isAwake = false;
    const waiting = wake.wait(signal).then(() => {
      isAwake = true;
    });
    await pause(1, signal);
    assert.equal(isAwake, false);
    wake.call();
    await waiting;
  });

  it('and a pause end with the signal, and leave nothing on it', async () => {
    const stop = new AbortController();
    const wake = new Wake();
    const waits = [wake.wait(stop.signal), pause(60_000, stop.signal)];
    stop.abort();
    await Promise.all(waits);
    await Promise.all([wake.wait(stop.signal), pause(60_000, stop.signal)]);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });
});
