import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from './api-answer.ts';
import { readRejection } from './api-rejection.ts';
import { ClusterError } from './cluster-error.ts';
import { JSON_ENCODING } from './wire/json-encoding.ts';

/** Its body ends so. */
function answer(status: number, ending: unknown): Answer {
  const partly = {
    status,
    encoding: JSON_ENCODING,
    retryAfterMs: undefined,
    limitSilence: () => undefined,
    async *body() {
      yield Buffer.from('{"kind":"Sta');
      throw ending;
    },
  };
  return partly as unknown as Answer;
}

test('returns the error of the status when the body never arrives', async () => {
  const stalled = new ClusterError('CLUSTER_STALLED', 'nothing was sent', { next: 'nothing' });
  const { code, status } = await readRejection(answer(410, stalled), 'watch');
  assert.deepEqual([code, status], ['CLUSTER_GONE', 410]);
});

test('rejects with the reason of the signal when aborted', async () => {
  const reason = new DOMException('enough', 'AbortError');
  await assert.rejects(readRejection(answer(410, reason), 'watch'), reason);
});
