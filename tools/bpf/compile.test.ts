import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type Compiled, CompileError, compile, USUAL_CPU } from './compile.ts';

const SOURCE = `#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "value.h"
char LICENSE[] SEC("license") = "GPL";
SEC("tc") int one(struct __sk_buff *skb) { return VALUE; }
`;
const never = new AbortController().signal;
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-compile-'));
  await writeFile(join(folder, 'one.bpf.c'), SOURCE);
  await writeFile(join(folder, 'value.h'), '#define VALUE 1\n');
});

afterEach(async () => await rm(folder, { recursive: true }));

function build(root: string): Promise<Compiled> {
  return compile({
    root,
    source: join(root, 'one.bpf.c'),
    folder: join(root, 'out'),
    cpu: USUAL_CPU,
    signal: never,
  });
}

test('the same sources elsewhere give the same bytes, without the place in them', async () => {
  const other = `${folder}-elsewhere-and-longer`;
  await cp(folder, other, { recursive: true });
  try {
    const [here, there] = [await build(folder), await build(other)];
    const bytes = await readFile(here.path);
    assert.deepEqual(bytes, await readFile(there.path));
    assert.equal(bytes.includes(folder), false);
    assert.equal(bytes.includes('.BTF.ext'), true);
    assert.equal(bytes.includes('.debug_info'), false);
  } finally {
    await rm(other, { recursive: true });
  }
});

test('compiled once; again when a header changed', async () => {
  assert.equal((await build(folder)).cached, false);
  assert.equal((await build(folder)).cached, true);
  await writeFile(join(folder, 'value.h'), '#define VALUE 2\n');
  assert.equal((await build(folder)).cached, false);
});

test('passes on the message of the compiler, and leaves no partial output', async () => {
  await writeFile(join(folder, 'one.bpf.c'), 'int broken(\n');
  await assert.rejects(build(folder), (error) => {
    return error instanceof CompileError && error.message.includes('one.bpf.c:1');
  });
  await assert.rejects(readFile(join(folder, 'out/one.bpf.o')), { code: 'ENOENT' });
});
