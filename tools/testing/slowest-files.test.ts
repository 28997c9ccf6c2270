import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import slowestFiles from './slowest-files.ts';

async function* ends(...seconds: number[]) {
  for (const [index, duration] of seconds.entries()) {
    const file = join(process.cwd(), `src/${index}.test.ts`);
    yield { type: 'test:pass', data: { file, duration_ms: 1e9 } };
    yield { type: 'test:summary', data: { file, duration_ms: duration * 1_000 } };
  }
  yield { type: 'test:summary', data: { duration_ms: 1e9 } };
}

async function report(...seconds: number[]): Promise<string[]> {
  const text = (await Array.fromAsync(slowestFiles(ends(...seconds)))).join('');
  return text.trim().split('\n');
}

describe('slowestFiles', () => {
  it('prints the ten files that took longest, the slowest first', async () => {
    const lines = await report(1, 3, 2, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9);
    assert.match(lines[0] ?? '', /^slowest of 12 test files/);
    assert.deepEqual(lines.slice(1, 4), [
      '    3.0 s  src/1.test.ts',
      '    2.0 s  src/2.test.ts',
      '    1.0 s  src/0.test.ts',
    ]);
    assert.equal(lines.length, 11);
  });

  it('says nothing of a single file', async () => {
    assert.deepEqual(await report(1), ['']);
  });
});
