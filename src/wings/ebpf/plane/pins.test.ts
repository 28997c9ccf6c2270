import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Pins } from './pins.ts';

test('leaves a folder that cannot hold pins unchanged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-pins-'));
  try {
    for (const part of ['maps', 'other']) mkdirSync(join(folder, part));
    new Pins(folder).removeAll();
    assert.deepEqual(readdirSync(folder).sort(), ['maps', 'other']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
