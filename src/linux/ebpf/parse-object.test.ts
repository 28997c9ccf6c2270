import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assemble } from './assemble.ts';
import { MapFlag, MapType } from './bpf-constants.ts';
import { BpfError } from './bpf-error.ts';
import { parseObject } from './parse-object.ts';
import { compiled } from './testing/compile-object.ts';

const file = compiled('connect');
const object = parseObject(file);

test('reads programs, functions and the license', () => {
  assert.equal(object.license, 'GPL');
  assert.deepEqual(
    object.programs.map(({ name, section }) => [name, section]),
    [
      ['connect4', 'cgroup/connect4'],
      ['reject_all', 'cgroup/connect4'],
      ['count_bytes', 'tc'],
    ],
  );
  assert.deepEqual(object.functions.map(({ name }) => name).sort(), ['add', 'rewrite']);
});

test('reads maps as they are declared', () => {
  const [redirects, original] = object.maps;
  assert.deepEqual(
    { ...redirects, keyTypeId: 0, valueTypeId: 0 },
    {
      name: 'redirects',
      type: MapType.hash,
      keySize: 8,
      valueSize: 8,
      maxEntries: 128,
      flags: MapFlag.noPrealloc,
      keyTypeId: 0,
      valueTypeId: 0,
    },
  );
  assert.equal(object.btf.name(redirects?.keyTypeId ?? 0), 'key');
  assert.equal(original?.type, MapType.socketStorage);
});

test('reads global variables with their initial values', () => {
  const sections = new Map(object.data.map((one) => [one.name, one]));
  assert.deepEqual([...sections.keys()].sort(), ['.bss', '.data', '.rodata']);
  assert.equal(sections.get('.rodata')?.readOnly, true);
  assert.equal(sections.get('.data')?.bytes.readUInt32LE(0), 7);
  assert.deepEqual([...(sections.get('.bss')?.variables.keys() ?? [])].sort(), [
    'connects',
    'hidden',
  ]);
});

test('appends to a program the functions that it reaches, and no others', () => {
  const [connect4, rejectAll] = object.programs;
  assert.ok(connect4 && rejectAll);
  const whole = assemble(object, connect4);
  const own = connect4.instructions.length;
  const reached = object.functions.reduce((sum, one) => sum + one.instructions.length, 0);
  assert.equal(whole.code.length, own + reached);
  assert.equal(whole.funcInfo.length, 3);
  assert.deepEqual(whole.funcInfo.map(({ at }) => at).sort((a, b) => a - b)[0], 0);
  assert.equal(assemble(object, rejectAll).code.length, rejectAll.instructions.length);
});

test('reports a damaged file as an unsupported object, and fails in no other way', () => {
  const outcome = (bytes: Buffer): void => {
    try {
      parseObject(bytes);
    } catch (error) {
      if (!(error instanceof BpfError)) throw error;
      assert.equal(error.code, 'BPF_OBJECT_INVALID');
    }
  };
  const place = fc.nat({ max: file.length - 1 });
  fc.assert(fc.property(place, (length) => outcome(file.subarray(0, length))));
  const changes = fc.array(fc.tuple(place, fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(changes, (all) => {
      const bytes = Buffer.from(file);
      for (const [at, value] of all) bytes[at] = value;
      outcome(bytes);
    }),
    { numRuns: 500 },
  );
  assert.throws(() => parseObject(Buffer.from('#!/bin/sh\n')), { code: 'BPF_OBJECT_INVALID' });
});
