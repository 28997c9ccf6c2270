import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { KernelTypes } from './kernel-types.ts';
import { describeMissing, probe } from './probe.ts';
import { tryProgram } from './probe-programs.ts';

test('what the kernel under the tests can', () => {
  const result = probe();
  assert.deepEqual(describeMissing(result, 'sockets'), []);
  assert.deepEqual(describeMissing(result, 'packets'), []);
  assert.deepEqual(result.works, ['sockets', 'packets']);
});

test('without the types of the kernel nothing works, and it says what and since when', () => {
  const empty = mkdtempSync(join(tmpdir(), 'fairlead-no-types-'));
  try {
    const result = probe(new KernelTypes(empty));
    assert.deepEqual(result.works, []);
    const [first] = describeMissing(result, 'sockets');
    assert.match(first ?? '', /types of the running kernel.*since Linux 5\.4; .*vmlinux/);
    // The others are tried all the same.
    assert.equal(
      describeMissing(result, 'packets').some((line) => line.includes('tcx')),
      false,
    );
  } finally {
    rmSync(empty, { recursive: true });
  }
});

test('a kind of program or a helper that no kernel has is found missing', () => {
  const kind = { type: 18, expectedAttachType: 9_999 };
  assert.throws(() => tryProgram(kind), { code: 'BPF_UNSUPPORTED' });
  const helper = { type: 18, expectedAttachType: 10, helper: { number: 99_999 } };
  assert.throws(() => tryProgram(helper), { code: 'BPF_PROGRAM_REFUSED' });
});
