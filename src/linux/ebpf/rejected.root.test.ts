import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { BpfError } from './bpf-error.ts';
import { loadObject } from './load-object.ts';
import { parseObject } from './parse-object.ts';
import { compiled } from './testing/compile-object.ts';

const object = parseObject(compiled('rejected'));

function rejectionOf(name: string): BpfError {
  try {
    loadObject(object, { programs: [{ name }] }).close();
  } catch (error) {
    if (error instanceof BpfError) return error;
    throw error;
  }
  return assert.fail(`${name} was loaded`);
}

test('gives the reason, the source line and the last instructions when the verifier rejects a program', () => {
  const error = rejectionOf('unsafe');
  assert.equal(error.code, 'BPF_PROGRAM_REFUSED');
  assert.match(error.message, /the program unsafe at `return \*number;.*`: R\d invalid mem access/);
  assert.match(error.detail ?? '', /^\d+: \(61\) .* = \*\(u32 \*\)/m);
  assert.match(error.detail ?? '', /rejected\.bpf\.c/);
  assert.doesNotMatch(error.detail ?? '', /processed \d+ insns/);
});

test('names a field that the kernel lacks', () => {
  const error = rejectionOf('lacking');
  assert.equal(error.code, 'BPF_KERNEL_LACKS');
  assert.match(error.message, /nf_conn\.no_such_field/);
});

test('names a function that the kernel lacks', () => {
  const error = rejectionOf('calling');
  assert.equal(error.code, 'BPF_KERNEL_LACKS');
  assert.match(error.message, /calling needs the function fairlead_no_such_function/);
});

test('leaves no descriptor open, so nothing in the kernel, when a load fails', () => {
  const open = (): number => readdirSync('/proc/self/fd').length;
  rejectionOf('unsafe');
  const before = open();
  for (const name of ['unsafe', 'lacking', 'calling', 'unsafe']) rejectionOf(name);
  assert.equal(open(), before);
});
