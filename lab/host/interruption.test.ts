import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { abortable } from './interruption.ts';

describe('abortable()', () => {
  it('gives what the work gives', async () => {
    assert.equal(await abortable(Promise.resolve(7), new AbortController().signal), 7);
  });

  it('rejects with the reason when aborted, whatever the work does later', async () => {
    const controller = new AbortController();
    const { promise: work, reject } = Promise.withResolvers<void>();
    const waiting = abortable(work, controller.signal);
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    reject(new Error('too late to matter'));
  });
});
