import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileProgress } from './compile-progress.ts';

function told(total: number, chunks: readonly { at: number; text: string }[]): string[] {
  const lines: string[] = [];
  let clock = 0;
  const take = compileProgress({ total, now: () => clock, detail: (text) => lines.push(text) });
  for (const { at, text } of chunks) {
    clock = at;
    take(text);
  }
  return lines;
}

const packages = (count: number): string => 'k8s.io/api/core/v1\n'.repeat(count);

test('counts packages and says how long the others take', () => {
  const lines = told(400, [
    { at: 1_000, text: packages(10) },
    { at: 60_000, text: packages(90) },
    { at: 200_000, text: packages(250) },
    { at: 240_000, text: packages(50) },
  ]);
  assert.deepEqual(lines, [
    '10 of 400 packages',
    '100 of 400 packages, about 3 min left',
    '350 of 400 packages, less than a minute left',
    '400 of 400 packages, linking',
  ]);
});

test('lines of downloads and of the compiler are no packages', () => {
  const text = 'go: downloading k8s.io/api v0.37.1\n# k8s.io/api\nk8s.io/api\n';
  assert.deepEqual(told(50, [{ at: 1, text }]), ['1 of 50 packages']);
});
