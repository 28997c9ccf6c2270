import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { eachAttribute, readAttributes, readMessages } from '../netlink/reader.ts';
import { NftBatch } from './batch.ts';
import type { SetElement } from './nft-objects.ts';
import { ELEMENTS, FLAG, MESSAGE } from './nftables-protocol.ts';

const TABLE = { family: 'ip', name: 'ours' } as const;
const HEADER_BYTES = 4;

/** Elements, and the list that nft 1.0.6 sent for each: `add element ip ours … { … }`. */
const CAPTURED_ELEMENTS: readonly { element: SetElement; list: string }[] = [
  { element: { key: '\x0a\0\0\x01' }, list: '100001800c000180080001000a000001' },
  {
    element: { key: '\x03\0\0\x01', verdict: { code: 'goto', chain: 'base' } },
    list: '2c0001800c00018008000100030000011c0002801800028008000100fffffffc090002006261736500000000',
  },
  {
    element: {
      key: '\x0a\x60\0\x0a\x06\0\0\0\0\x50\0\0',
      value: '\x03\0\0\x01',
      comment: 'ns/web:http',
    },
    list: [
      '3800018014000180100001000a60000a06000000005000000c0002800800010003000001',
      '12000600000c6e732f7765623a68747470000000',
    ].join(''),
  },
  {
    element: { key: '\x99\x91\x30\x57\xac\x10\0\0', keyEnd: '\x99\x91\x30\x57\xac\x1f\xff\xff' },
    list: '24000180100001800c00010099913057ac10000010000a800c00010099913057ac1fffff',
  },
];

describe('a batch', () => {
  it('is framed, numbered in sequence, and requests an acknowledgement only for its last operation', () => {
    const batch = new NftBatch(7);
    batch.addTable(TABLE, 'comment');
    batch.addElement(TABLE, 'a', { key: '1234' });
    batch.addElement(TABLE, 'a', { key: '5678' });
    batch.addElement(TABLE, 'b', { key: '1234' });
    const { bytes, begin, last, next } = batch.finish();
    const messages = [...readMessages(bytes)];
    assert.deepEqual(
      messages.map(({ type }) => type),
      [
        MESSAGE.batchBegin,
        MESSAGE.newTable,
        MESSAGE.newElements,
        MESSAGE.newElements,
        MESSAGE.batchEnd,
      ],
    );
    assert.deepEqual(
      messages.map(({ sequence }) => sequence),
      [7, 8, 9, 10, 11],
    );
    const asked = messages.filter(({ flags }) => (flags & FLAG.acknowledge) !== 0);
    assert.deepEqual(
      asked.map(({ sequence }) => sequence),
      [10],
    );
    assert.deepEqual({ begin, last, next }, { begin: 7, last: 10, next: 12 });
    assert.equal(batch.operationCount, 4);
  });

  it('splits lists that exceed the 16-bit length, and loses no element', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 4000 }), fc.integer({ min: 0, max: 127 }));
    fc.assert(
      fc.property(sizes, ([count, commentLength]) => {
        const batch = new NftBatch(1);
        const comment = 'c'.repeat(commentLength);
        for (let i = 0; i < count; i++) {
          const key = String.fromCharCode(i & 0xff, i >>> 8, 0, 0);
          batch.addElement(TABLE, 'many', { key, comment });
        }
        let found = 0;
        for (const { type, body } of readMessages(batch.finish().bytes)) {
          if (type !== MESSAGE.newElements) continue;
          const list = readAttributes(body.subarray(HEADER_BYTES)).get(ELEMENTS.list);
          assert.ok(list);
          for (const _ of eachAttribute(list)) found += 1;
        }
        assert.equal(found, count);
      }),
      { numRuns: 25 },
    );
  });

  it('finds the owner of the operation at every offset', () => {
    const step = fc.record({
      owner: fc.constantFrom('a', 'b', 'c'),
      set: fc.constantFrom('one', 'two'),
      isDeletion: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const batch = new NftBatch(1);
        for (const [index, { owner, set, isDeletion }] of steps.entries()) {
          batch.own(owner);
          const element = { key: String.fromCharCode(index, 0, 0, 0) };
          if (isDeletion) batch.deleteElement(TABLE, set, element);
          else batch.addElement(TABLE, set, element);
        }
        const { bytes } = batch.finish();
        // Every key occurs once, so its position gives the expected owner.
        for (const [index, { owner }] of steps.entries()) {
          const value = Buffer.from([8, 0, 1, 0, index, 0, 0, 0]);
          const at = bytes.lastIndexOf(value);
          assert.equal(batch.ownerAt(at), owner, `element ${index} at ${at}`);
        }
      }),
    );
  });

  it('writes elements as nft does', () => {
    for (const { element, list } of CAPTURED_ELEMENTS) {
      const batch = new NftBatch(1);
      batch.addElement(TABLE, 'any', element);
      const [, message] = [...readMessages(batch.finish().bytes)];
      const body = message && readAttributes(message.body.subarray(HEADER_BYTES));
      assert.equal(body?.get(ELEMENTS.list)?.toString('hex'), list);
    }
  });

  it('deletes an interval by both of its ends, as nft does', () => {
    const interval = CAPTURED_ELEMENTS.at(-1);
    assert.ok(interval);
    const batch = new NftBatch(1);
    batch.deleteElement(TABLE, 'any', interval.element);
    const [, message] = [...readMessages(batch.finish().bytes)];
    const body = message && readAttributes(message.body.subarray(HEADER_BYTES));
    assert.equal(body?.get(ELEMENTS.list)?.toString('hex'), interval.list);
  });
});
