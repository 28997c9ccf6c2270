import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { checkWallClock, wallClockLines } from './check.ts';
import { READERS } from './table.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('this project', () => {
  it('reads the wall clock only for dates', async () => {
    const { fileCount, violations, unused } = await checkWallClock(ROOT, READERS);
    assert.deepEqual({ violations, unused }, { violations: [], unused: [] });
    assert.ok(fileCount > 100);
  });
});

const READINGS = [
  'const retryAtMs = Date.now() + 5;',
  'const now = Date\n.now',
  'const now = new Date();',
  'const now = new Date;',
  'const at = clock.wallMs();',
  'const text = `at ${Date.now()}`;',
  'const began = performance.timeOrigin;',
];

const OTHERS = [
  'const at = new Date(atMs).toISOString();',
  'const at = Date.parse(text);',
  '/** Date.now() is not monotonic. */',
  "const text = 'Date.now()';",
  'const at = clock.monotonicMs() + performance.now();',
  'interface Clock { readonly wallMs: () => number; date: Date }',
];

describe('the check', () => {
  for (const source of READINGS) {
    it(`finds the reading in ${JSON.stringify(source)}`, () => {
      assert.deepEqual(wallClockLines(`\n${source}`), [2]);
    });
  }

  for (const source of OTHERS) {
    it(`finds none in ${JSON.stringify(source)}`, () => {
      assert.deepEqual(wallClockLines(source), []);
    });
  }

  it('reports a file missing in the table, and one that the table names needlessly', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'fairlead-wall-clock-'));
    t.after(() => rm(root, { recursive: true }));
    const files = {
      'src/agent/retry.ts': 'export const now = Date.now();',
      'src/agent/retry.test.ts': 'const now = Date.now();',
      'src/agent/testing/clock.ts': 'export const now = Date.now();',
      'src/agent/named.ts': 'export const now = 0;',
    };
    for (const [file, source] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), source);
    }
    const { violations, unused } = await checkWallClock(root, { 'src/agent/named.ts': 'a date' });
    assert.deepEqual(violations, ['src/agent/retry.ts:1']);
    assert.deepEqual(unused, ['src/agent/named.ts']);
  });
});
