import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LabError } from '../../../lab/host/errors.ts';
import { paced } from './writers.ts';

/** Ends after so many writes, of which every third one ends with this error. */
async function writeWith(error: Error, most: number): Promise<{ count: number; missed: number }> {
  const over = new AbortController();
  const write = async (serial: number): Promise<void> => {
    if (serial + 1 >= most) over.abort();
    if (serial % 3 === 2) throw error;
  };
  return await paced(write, { everyMs: 1, most: 1, signal: over.signal });
}

describe('writes at a pace', () => {
  it('count those that the API server has not answered, and go on', async () => {
    const silent = new LabError('LAB_API_SILENT', 'no response', { next: '' });
    assert.deepEqual(await writeWith(silent, 9), { count: 6, missed: 3 });
  });

  it('end when it rejects one', async () => {
    const rejected = new LabError('LAB_API', '422', { next: '' });
    await assert.rejects(writeWith(rejected, 9), rejected);
  });
});
