import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NetlinkWriter } from './netlink-writer.ts';
import { eachAttribute, readAttributes, readMessages, textOf } from './reader.ts';
import { LINKS_QUESTION } from './testing/captured-netlink.ts';

const NESTED_BIT = 0x8000;

type Tree = { type: number } & ({ value: Uint8Array } | { nest: Tree[] });

const PLAIN = { noNullPrototype: true };
const header = fc.record(
  { type: fc.nat(0xffff), flags: fc.nat(0xffff), sequence: fc.nat(0xffff_ffff) },
  PLAIN,
);
const value = fc.uint8Array({ maxLength: 40 });
const leaf = fc.record({ type: fc.nat(0x3fff), value }, PLAIN);
const trees = fc.letrec<{ forest: Tree[]; tree: Tree }>((tie) => ({
  forest: fc.array(tie('tree'), { maxLength: 5 }),
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({ type: fc.nat(0x3fff), nest: tie('forest') }, PLAIN),
  ),
})).forest;

function write(writer: NetlinkWriter, forest: readonly Tree[]): void {
  for (const tree of forest) {
    if ('value' in tree) {
      writer.bytesOf(tree.type, tree.value);
    } else {
      const nest = writer.beginNested(tree.type);
      write(writer, tree.nest);
      writer.endNested(nest);
    }
  }
}

/** Reads in the shape in which it was written, as every codec does. */
function read(bytes: Buffer, shape: readonly Tree[]): Tree[] {
  return [...eachAttribute(bytes)].map(({ type, value }, index) => {
    const like = shape[index];
    if (like !== undefined && 'nest' in like) return { type, nest: read(value, like.nest) };
    return { type, value: new Uint8Array(value) };
  });
}

describe('a netlink writer', () => {
  it('writes what the reader reads back, including nests and several messages', () => {
    const fixed = fc.uint8Array({ maxLength: 20 });
    const message = fc.record({ header, fixed, forest: trees }, PLAIN);
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        const writer = new NetlinkWriter();
        for (const { header, fixed, forest } of messages) {
          const begun = writer.beginMessage(header);
          writer.raw(fixed);
          write(writer, forest);
          writer.endMessage(begun);
        }
        const found = [...readMessages(writer.bytes)].map((message, index) => {
          const { fixed = new Uint8Array(), forest = [] } = messages[index] ?? {};
          const { type, flags, sequence, body } = message;
          const attributes = body.subarray(Math.ceil(fixed.length / 4) * 4);
          return {
            header: { type, flags, sequence },
            fixed: new Uint8Array(body.subarray(0, fixed.length)),
            forest: read(attributes, forest),
          };
        });
        assert.deepEqual(found, messages);
      }),
    );
  });

  it('aligns everything to four bytes, with zero padding', () => {
    fc.assert(
      fc.property(fc.array(leaf, { minLength: 1, maxLength: 30 }), (leaves) => {
        const writer = new NetlinkWriter();
        // Leftovers of earlier messages must not shine through.
        writer.bytesOf(1, new Uint8Array(3000).fill(0xff));
        writer.clear();
        let expected = 0;
        for (const { type, value } of leaves) {
          writer.bytesOf(type, value);
          const end = expected + 4 + value.length;
          expected = Math.ceil(end / 4) * 4;
          assert.equal(writer.length, expected);
          assert.ok(writer.bytes.subarray(end, expected).every((byte) => byte === 0));
        }
      }),
    );
  });

  it('writes numbers in the byte order of their method names', () => {
    const writer = new NetlinkWriter();
    writer.u8(1, 0xab);
    writer.u16be(2, 0x0102);
    writer.u32be(3, 0x01020304);
    writer.u32le(4, 0x01020304);
    writer.u64be(5, 0x0102030405060708n);
    assert.equal(
      writer.bytes.toString('hex'),
      ['05000100ab000000', '0600020001020000', '0800030001020304', '0800040004030201']
        .concat('0c0005000102030405060708')
        .join(''),
    );
  });

  it('ends strings with a zero and counts their bytes, not their characters', () => {
    const unit = fc.constantFrom('a', 'é', '世', '😀');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const writer = new NetlinkWriter();
        writer.text(7, text);
        assert.equal(writer.bytes.readUInt16LE(0), 4 + Buffer.byteLength(text) + 1);
        assert.equal(textOf(readAttributes(writer.bytes).get(7)), text);
      }),
    );
  });

  it('writes a string of bytes as these bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (value) => {
        const writer = new NetlinkWriter();
        writer.binary(9, Buffer.from(value).toString('latin1'));
        assert.deepEqual(new Uint8Array(readAttributes(writer.bytes).get(9) ?? []), value);
      }),
    );
  });

  it('grows beyond its first buffer and keeps its contents', () => {
    const writer = new NetlinkWriter();
    const begun = writer.beginMessage({ type: 1, flags: 2, sequence: 3 });
    const values = Array.from({ length: 300 }, (_, i) => Buffer.alloc(i, i));
    for (const [index, value] of values.entries()) writer.bytesOf(index, value);
    writer.endMessage(begun);
    const [message] = readMessages(writer.bytes);
    assert.deepEqual([...readAttributes(message?.body ?? Buffer.alloc(0)).values()], values);
  });

  it('adds flags to a message that is already written', () => {
    const writer = new NetlinkWriter();
    const first = writer.beginMessage({ type: 1, flags: 1, sequence: 1 });
    writer.endMessage(first);
    writer.endMessage(writer.beginMessage({ type: 1, flags: 1, sequence: 2 }));
    writer.addFlags(first, 0x304);
    assert.deepEqual(
      [...readMessages(writer.bytes)].map(({ flags }) => flags),
      [0x305, 1],
    );
  });

  it('marks nests, and rejects those whose length would wrap around', () => {
    const writer = new NetlinkWriter();
    const nest = writer.beginNested(5);
    assert.equal(writer.bytes.readUInt16LE(nest + 2), 5 | NESTED_BIT);
    for (let count = 0; count < 70; count++) writer.bytesOf(1, new Uint8Array(1000));
    assert.throws(() => writer.endNested(nest), { code: 'ERR_OUT_OF_RANGE' });
    assert.throws(() => writer.bytesOf(1, new Uint8Array(65_532)), { code: 'ERR_OUT_OF_RANGE' });
  });

  it('writes a request that a kernel answered, byte for byte', () => {
    const writer = new NetlinkWriter();
    const message = writer.beginMessage({ type: 18, flags: 0x301, sequence: 1 });
    writer.raw(new Uint8Array(16));
    writer.u32le(29, 8);
    writer.endMessage(message);
    assert.equal(writer.bytes.toString('hex'), LINKS_QUESTION.toString('hex'));
  });
});
