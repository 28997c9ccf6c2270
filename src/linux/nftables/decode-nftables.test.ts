import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { readMessages } from '../netlink/reader.ts';
import { NftBatch } from './batch.ts';
import { decodeElements, type StoredElement } from './decode-elements.ts';
import { decodeChain, decodeRule, decodeSet } from './decode-nftables.ts';
import { writeExpression } from './expressions.ts';
import type { SetElement } from './nft-objects.ts';
import { decodeCommit, decodeEvent } from './nftables-events.ts';
import { COUNTER, DATA, ELEMENT, ELEMENTS, LIST_ITEM, MESSAGE } from './nftables-protocol.ts';
import { exampleSets } from './testing/example-sets.ts';

const TABLE = { family: 'ip', name: 'ours' } as const;
const HEADER_BYTES = 4;

/** Messages of every sort, as the kernel would send them back. */
function sampleBytes(): Buffer {
  const batch = new NftBatch(1);
  batch.addTable(TABLE, 'a comment');
  batch.addChain(TABLE, {
    name: 'base',
    base: { type: 'nat', hook: 'prerouting', priority: -100 },
  });
  for (const set of exampleSets('ip')) batch.addSet(TABLE, set);
  batch.addRule(TABLE, { chain: 'base', expressions: [], fingerprint: '12345678', comment: 'x' });
  batch.addElement(TABLE, 'numbers', { key: 'k'.repeat(12), value: 'abcd', comment: 'ns/web' });
  const verdict = { code: 'goto', chain: 'base' } as const;
  batch.addElement(TABLE, 'verdicts', { key: 'abcd', verdict });
  return Buffer.concat([batch.finish().bytes, countedBytes()]);
}

const COUNTED = { key: 'abcd', value: 'efgh', packets: 7, bytes: 2 ** 40 };

/** An element that has counted, which only a kernel sends. */
function countedBytes(): Buffer {
  const writer = new NetlinkWriter();
  const message = writer.beginMessage({ type: MESSAGE.newElements, flags: 0, sequence: 1 });
  writer.raw(Buffer.from([2, 0, 0, 0]));
  const list = writer.beginNested(ELEMENTS.list);
  const item = writer.beginNested(LIST_ITEM);
  for (const [type, value] of [
    [ELEMENT.key, COUNTED.key],
    [ELEMENT.data, COUNTED.value],
  ] as const) {
    const data = writer.beginNested(type);
    writer.binary(DATA.value, value);
    writer.endNested(data);
  }
  writeExpression(writer, ELEMENT.expression, {
    name: 'counter',
    attributes: (w) => {
      w.u64be(COUNTER.bytes, BigInt(COUNTED.bytes));
      w.u64be(COUNTER.packets, BigInt(COUNTED.packets));
    },
  });
  writer.endNested(item);
  writer.endNested(list);
  writer.endMessage(message);
  return Buffer.from(writer.bytes);
}

function decodeAll(bytes: Buffer): void {
  for (const message of readMessages(bytes)) {
    decodeChain(message.body, TABLE);
    decodeRule(message.body, TABLE);
    decodeSet(message.body, TABLE);
    decodeElements(message.body.subarray(HEADER_BYTES), () => undefined);
    decodeEvent(message);
    decodeCommit(message);
    decodeCommit({ ...message, type: MESSAGE.newGeneration });
  }
}

describe('a response of the kernel', () => {
  it('is decoded without throwing, for any bytes', () => {
    const sample = sampleBytes();
    const damage = fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255)), { maxLength: 20 });
    fc.assert(
      fc.property(damage, fc.nat(sample.length), (changes, length) => {
        const bytes = Buffer.from(sample);
        for (const [at, value] of changes) bytes[at] = value;
        decodeAll(bytes);
        decodeAll(bytes.subarray(0, length));
      }),
      { numRuns: 2000 },
    );
  });

  it('is decoded when an attribute is too short for its number', () => {
    const body = Buffer.from([
      2, 0, 0, 0, 9, 0, 1, 0, 0x6f, 0x75, 0x72, 0x73, 0, 0, 0, 0, 4, 0, 3, 0,
    ]);
    assert.equal(decodeSet(body, TABLE)?.flags, 0);
  });

  it('has the counters of an element', () => {
    const found: StoredElement[] = [];
    for (const { body } of readMessages(countedBytes())) {
      decodeElements(body.subarray(HEADER_BYTES), (each) => found.push(each));
    }
    assert.deepEqual(found, [COUNTED]);
  });

  it('has every element as it was written', () => {
    const binary = (size: number) =>
      fc
        .uint8Array({ minLength: size, maxLength: size })
        .map((bytes) => Buffer.from(bytes).toString('latin1'));
    const element: fc.Arbitrary<SetElement> = fc.record(
      {
        key: binary(12),
        value: binary(4),
        keyEnd: binary(12),
        comment: fc.stringMatching(/^[a-z0-9/:-]{1,80}$/),
      },
      { requiredKeys: ['key'] },
    );
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 50 }), (elements) => {
        const batch = new NftBatch(1);
        for (const each of elements) batch.addElement(TABLE, 'any', each);
        const found: StoredElement[] = [];
        for (const { type, body } of readMessages(batch.finish().bytes)) {
          if (type !== MESSAGE.newElements) continue;
          decodeElements(body.subarray(HEADER_BYTES), (each) => found.push(each));
        }
        assert.deepEqual(
          found,
          elements.map((each) => ({ ...each, packets: 0, bytes: 0 })),
        );
      }),
    );
  });
});
