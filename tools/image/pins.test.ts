import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ImageError } from './image-error.ts';
import { MACHINES, machineOf } from './machine.ts';
import { hashOfFiles, npmOrigin, type Origin } from './origin.ts';
import { assertInstalled } from './packages.ts';
import { assertPinned, formatPins, parsePins, pinProblems } from './pins.ts';
import { readPins } from './pins-file.ts';

const root = join(import.meta.dirname, '../..');
const machine = machineOf(process.arch);
const PIN: Origin = {
  kind: 'debian',
  name: 'libc6',
  version: '2.36-9',
  architecture: 'amd64',
  sha256: 'a'.repeat(64),
};

test('writes pins that read back equal, in one order', () => {
  const pins: Origin[] = [{ ...PIN, architecture: 'arm64' }, PIN];
  assert.equal(formatPins(pins), formatPins([...pins].reverse()));
  assert.deepEqual(parsePins(formatPins(pins)), [...pins].reverse());
  assert.throws(() => parsePins('npm zod 1.0.0 all 1234'), { code: 'IMAGE_PINS_INVALID' });
});

test('names what differs from its pin, and how to restore it', () => {
  assert.deepEqual(pinProblems([PIN], [PIN]), []);
  const messages = (origin: Origin) => pinProblems([origin], [PIN]).map(({ message }) => message);
  assert.deepEqual(messages({ ...PIN, name: 'libevil' }), [
    'debian libevil 2.36-9 (amd64) is not pinned',
  ]);
  assert.deepEqual(messages({ ...PIN, architecture: 'arm64' }), [
    'debian libc6 2.36-9 (arm64) is not pinned',
  ]);
  assert.deepEqual(messages({ ...PIN, version: '2.37' }), [
    'debian libc6 2.37 (amd64): the pinned version is 2.36-9',
  ]);
  const changed = { ...PIN, sha256: 'b'.repeat(64) };
  assert.match(
    messages(changed)[0] ?? '',
    /^debian libc6 2\.36-9 \(amd64\) differs from what is pinned/,
  );
  assert.throws(
    () => assertPinned([changed], [PIN]),
    (error) =>
      error instanceof ImageError &&
      error.code === 'IMAGE_NOT_PINNED' &&
      error.next.includes('apt-get install --reinstall libc6=2.36-9') &&
      error.next.includes('npm run image -- --pin'),
  );
});

test('hashes names and contents, in any order', () => {
  const files = [
    { path: 'a', bytes: Buffer.from('1') },
    { path: 'b', bytes: Buffer.from('2') },
  ];
  assert.equal(hashOfFiles(files), hashOfFiles([...files].reverse()));
  const swapped = files.map(({ bytes }, index) => ({ path: index === 0 ? 'b' : 'a', bytes }));
  assert.notEqual(hashOfFiles(files), hashOfFiles(swapped));
});

test('finds one changed byte in an installed binary, and one file more', async () => {
  const pins = await readPins();
  const name = machine.koffiPackage;
  const packages = await mkdtemp(join(tmpdir(), 'fairlead-pins-test-'));
  const problems = async () => {
    const origin = await npmOrigin(packages, { name, architecture: machine.architecture });
    return pinProblems([origin], pins).map(({ message }) => message.split(':')[0]);
  };
  try {
    await cp(join(root, 'node_modules', name), join(packages, name), { recursive: true });
    assert.deepEqual(await problems(), []);
    const path = join(packages, name, machine.koffiFolder, 'koffi.node');
    const bytes = await readFile(path);
    const at = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(path, bytes);
    const { version } = pins.find((pin) => pin.name === name) ?? { version: '' };
    const changed = `npm ${name} ${version} (${machine.architecture}) differs from what is pinned`;
    assert.deepEqual(await problems(), [changed]);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(path, bytes);
    assert.deepEqual(await problems(), []);
    await writeFile(join(packages, name, 'more.js'), '');
    assert.deepEqual(await problems(), [changed]);
  } finally {
    await rm(packages, { recursive: true });
  }
});

test('pins the same packages of Debian for every machine', async () => {
  const pins = (await readPins()).filter(({ kind }) => kind === 'debian');
  const [first = [], ...others] = MACHINES.map(({ architecture }) =>
    pins.filter((pin) => pin.architecture === architecture).map(({ name }) => name),
  );
  assert.ok(first.includes('libc6'));
  for (const names of others) assert.deepEqual(names, first);
});

test('says which package npm has left out', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'fairlead-pins-test-'));
  try {
    assert.throws(() => assertInstalled(empty, machine), {
      code: 'IMAGE_PACKAGE_MISSING',
      message: new RegExp(`^npm has not installed ${machine.nodePackage}: `),
    });
    assertInstalled(join(root, 'node_modules'), machine);
  } finally {
    await rm(empty, { recursive: true });
  }
});
