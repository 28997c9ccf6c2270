import assert from 'node:assert/strict';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { enterOwnMounts, run } from '../netlink/testing/own-namespace.ts';
import { pinFolder, unmountOwn } from './folders.ts';

enterOwnMounts();

test('what we mounted is taken away when it is empty, and what others mounted never', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-mount-'));
  try {
    const pins = pinFolder('pins', folder);
    assert.equal(unmountOwn(folder), false);
    rmdirSync(pins);
    assert.equal(unmountOwn(folder), true);
    run(['mount', '-t', 'bpf', 'bpf', folder]);
    assert.equal(unmountOwn(folder), false);
    run(['umount', folder]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
