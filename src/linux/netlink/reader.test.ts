import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readAcknowledgement } from './netlink-exchange.ts';
import { eachAttribute, numberOf, readAttributes, readMessages, textOf } from './reader.ts';
import { ADDRESSES_ANSWER, REJECTION, VETH_ANSWER } from './testing/captured-netlink.ts';

const CAPTURED = [ADDRESSES_ANSWER, REJECTION, VETH_ANSWER];

/** Whatever a kernel could send, and a good deal that none would. */
const hostile = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .record({
      original: fc.constantFrom(...CAPTURED),
      end: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ original, end }) => original.subarray(0, Math.floor(original.length * end))),
  fc
    .record({
      original: fc.constantFrom(...CAPTURED),
      blows: fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 10 }),
    })
    .map(({ original, blows }) => {
      const bytes = Buffer.from(original);
      for (const [at, value] of blows) bytes[at % bytes.length] = value;
      return bytes;
    }),
);

describe('a netlink reader', () => {
  it('accepts any bytes without throwing, and terminates', () => {
    fc.assert(
      fc.property(hostile, (bytes) => {
        let seen = 0;
        for (const message of readMessages(bytes)) {
          seen += 16 + message.body.length;
          readAcknowledgement({ ...message, type: 2, flags: message.flags | 0x200 });
          readAcknowledgement({ ...message, type: 2, flags: 0x300 });
          let inside = 0;
          for (const { value } of eachAttribute(message.body)) {
            inside += 4 + value.length;
            textOf(value);
            numberOf(value);
            readAttributes(value);
          }
          assert.ok(inside <= message.body.length);
        }
        assert.ok(seen <= bytes.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('returns nothing of a truncated message, and all that came before it', () => {
    const both = Buffer.concat([REJECTION, REJECTION]);
    for (let end = 0; end <= both.length; end++) {
      const whole = Math.floor(end / REJECTION.length);
      assert.equal([...readMessages(both.subarray(0, end))].length, whole);
    }
  });

  it('leaves out the messages of the port to skip, and nothing else', () => {
    const [ours, theirs] = [Buffer.from(REJECTION), Buffer.from(REJECTION)];
    ours.writeUInt32LE(7, 12);
    theirs.writeUInt32LE(8, 12);
    const all = Buffer.concat([ours, theirs, ours, theirs]);
    const told = [...readMessages(all, (portId) => portId === 7)];
    assert.deepEqual(told, [...readMessages(Buffer.concat([theirs, theirs]))]);
  });

  it('stops at a length that would not advance it', () => {
    for (const length of [0, 1, 15]) {
      const bytes = Buffer.alloc(64);
      bytes.writeUInt32LE(length);
      assert.deepEqual([...readMessages(bytes)], []);
    }
    for (const length of [0, 1, 3]) {
      const bytes = Buffer.alloc(64);
      bytes.writeUInt16LE(length);
      assert.deepEqual([...eachAttribute(bytes)], []);
    }
  });

  it('reads a length above 2^31 as unsigned', () => {
    const bytes = Buffer.alloc(64, 0xff);
    assert.deepEqual([...readMessages(bytes)], []);
  });

  it('masks the flag bits of an attribute type', () => {
    const bytes = Buffer.from('0800 0580 00000000 0800 0640 00000000'.replaceAll(' ', ''), 'hex');
    assert.deepEqual([...readAttributes(bytes).keys()], [5, 6]);
  });

  it('keeps the last of several attributes of one type, or each for a list', () => {
    const bytes = Buffer.from('0800010001000000080001000200000', 'hex');
    assert.equal([...eachAttribute(Buffer.concat([bytes, Buffer.alloc(1)]))].length, 2);
    assert.equal(numberOf(readAttributes(Buffer.concat([bytes, Buffer.alloc(1)])).get(1)), 2);
  });

  it('reads text up to its zero, or to the end where there is none', () => {
    assert.equal(textOf(Buffer.from('lo\0garbage')), 'lo');
    assert.equal(textOf(Buffer.from('lo')), 'lo');
    assert.equal(textOf(undefined), '');
  });

  it('reads a response of a kernel', () => {
    const [message, ...more] = readMessages(VETH_ANSWER);
    assert.deepEqual(more, []);
    assert.equal(message?.type, 16);
    assert.equal(message.sequence, 1);
    const attributes = readAttributes(message.body.subarray(16));
    assert.equal(textOf(attributes.get(3)), 'uplink');
    assert.equal(numberOf(attributes.get(4)), 1500);
    assert.equal(attributes.get(1)?.toString('hex'), '020000000007');
    assert.equal(textOf(readAttributes(attributes.get(18) ?? Buffer.alloc(0)).get(1)), 'veth');
  });

  it("reads the kernel's message about a rejection", () => {
    const [message] = readMessages(REJECTION);
    assert.deepEqual(message && readAcknowledgement(message), {
      sequence: 3,
      errno: 34,
      detail: 'Attribute failed policy validation',
      offset: 32,
    });
  });
});
