import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { enterOwnMounts, run } from '../netlink/testing/own-namespace.ts';
import { isOnBpf, makePinFolder, releasePinFolder, unmountOwn } from './folders.ts';

enterOwnMounts();

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-mount-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('unmounts its own mount when it is empty, and never another', () => {
  const pins = join(folder, 'pins');
  makePinFolder(pins);
  mkdirSync(join(pins, 'maps'));
  releasePinFolder(pins);
  assert.ok(isOnBpf(pins));
  rmSync(join(pins, 'maps'), { recursive: true });
  releasePinFolder(pins);
  assert.equal(existsSync(pins), false);
  run(['mount', '-t', 'bpf', 'bpf', folder]);
  assert.equal(unmountOwn(folder), false);
  run(['umount', folder]);
});

test('does not mount over a folder that holds other files', () => {
  writeFileSync(join(folder, 'state'), '');
  makePinFolder(join(folder, 'deep/pins'));
  assert.ok(existsSync(join(folder, 'state')));
  assert.equal(isOnBpf(join(folder, 'deep')), false);
  assert.throws(() => makePinFolder(folder), { code: 'BPF_FAILED' });
  releasePinFolder(join(folder, 'deep/pins'));
});

test('does not mount inside an existing bpf file system', () => {
  makePinFolder(folder);
  makePinFolder(join(folder, 'a/b'));
  assert.equal(unmountOwn(join(folder, 'a/b')), false);
  rmSync(join(folder, 'a'), { recursive: true });
  assert.ok(unmountOwn(folder));
});
