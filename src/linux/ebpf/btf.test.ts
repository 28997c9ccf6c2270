import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Btf, BtfKind } from './btf.ts';

interface Type {
  readonly name: number;
  readonly kind: number;
  readonly sizeOrType: number;
  readonly members?: readonly (readonly [name: number, type: number, offset: number])[];
  readonly hasBitFields?: boolean;
  readonly rest?: readonly number[];
}

/** Written by hand after Documentation/bpf/btf.rst. */
function encode(types: readonly Type[], strings: string): Buffer {
  const words = types.flatMap(
    ({ name, kind, sizeOrType, members = [], hasBitFields, rest = [] }) => {
      const info = ((hasBitFields ? 0x8000_0000 : 0) | (kind << 24) | members.length) >>> 0;
      return [name, info, sizeOrType, ...members.flat(), ...rest];
    },
  );
  const body = Buffer.from(Uint32Array.from(words).buffer);
  const text = Buffer.from(strings, 'latin1');
  const header = Buffer.alloc(24);
  header.writeUInt16LE(0xeb9f);
  header.writeUInt8(1, 2);
  for (const [at, value] of [24, 0, body.length, body.length, text.length].entries()) {
    header.writeUInt32LE(value, 4 + at * 4);
  }
  return Buffer.concat([header, body, text]);
}

// Offsets: u32 1, conn 5, status 10, flag 17.
const KERNEL_STRINGS = '\0u32\0conn\0status\0flag\0';
const kernel = new Btf(
  encode(
    [
      { name: 1, kind: BtfKind.int, sizeOrType: 4, rest: [32] },
      {
        name: 5,
        kind: BtfKind.struct,
        sizeOrType: 8,
        hasBitFields: true,
        members: [
          [10, 1, 0],
          [17, 1, (3 << 24) | 35],
        ],
      },
      { name: 0, kind: BtfKind.const, sizeOrType: 2 },
    ],
    KERNEL_STRINGS,
  ),
);

test('finds types by name, with their sizes and members', () => {
  const id = kernel.find(BtfKind.struct, 'conn');
  assert.equal(id, 2);
  assert.equal(kernel.find(BtfKind.union, 'conn'), undefined);
  assert.equal(kernel.find(BtfKind.struct, 'con'), undefined);
  assert.equal(kernel.find(BtfKind.struct, 'onn'), undefined);
  assert.equal(kernel.resolve(3), 2);
  assert.equal(kernel.size(3), 8);
  assert.deepEqual(kernel.members(2), [
    { name: 'status', typeId: 1, bitOffset: 0, bitSize: 0 },
    { name: 'flag', typeId: 1, bitOffset: 35, bitSize: 3 },
  ]);
});

test("continues the kernel's type and string numbers in a module", () => {
  const nameInModule = KERNEL_STRINGS.length;
  const module = new Btf(
    encode(
      [
        { name: nameInModule, kind: BtfKind.function, sizeOrType: 0 },
        { name: 5, kind: BtfKind.struct, sizeOrType: 12, members: [[10, 2, 32]] },
      ],
      'bpf_ct_release\0',
    ),
    kernel,
  );
  assert.equal(module.firstId, 4);
  assert.equal(module.find(BtfKind.function, 'bpf_ct_release'), 4);
  assert.equal(module.name(4), 'bpf_ct_release');
  assert.equal(module.find(BtfKind.struct, 'conn'), 5);
  const [member] = module.members(5);
  assert.deepEqual(member, { name: 'status', typeId: 2, bitOffset: 32, bitSize: 0 });
  assert.equal(module.size(member?.typeId ?? 0), 8);
});
