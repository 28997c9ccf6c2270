import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { closeFrame, messageHead, pong, WebSocketReader } from './websocket-frames.ts';

interface Heard {
  readonly bytes: Buffer;
  readonly events: readonly string[];
}

/** What a reader reports of these bytes, given in chunks that end at `cuts`. */
function read(all: Buffer, cuts: readonly number[]): Heard {
  const bytes: Buffer[] = [];
  const events: string[] = [];
  const reader = new WebSocketReader({
    onBytes: (part) => bytes.push(part),
    onPing: (payload) => events.push(`ping ${payload.toString()}`),
    onClose: () => events.push('close'),
  });
  const ends = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b);
  let at = 0;
  for (const end of [...ends, all.length]) {
    reader.push(all.subarray(at, end));
    at = end;
  }
  return { bytes: Buffer.concat(bytes), events };
}

/** As a server sends it: without a mask. */
function serverFrame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

describe('a WebSocket reader', () => {
  it('passes on the bytes of all messages, however they are cut', () => {
    const lengths = fc.array(fc.constantFrom(0, 1, 125, 126, 300, 65_535, 65_536, 70_000), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(lengths, fc.array(fc.nat()), (sizes, cuts) => {
        const payloads = sizes.map((size, index) => Buffer.alloc(size, index + 1));
        const all = Buffer.concat(payloads.map((payload) => serverFrame(0x82, payload)));
        assert.ok(read(all, cuts).bytes.equals(Buffer.concat(payloads)));
      }),
      { numRuns: 60 },
    );
  });

  it('reports pings and the close between the fragments of a message', () => {
    const all = Buffer.concat([
      serverFrame(0x02, Buffer.from('ab')),
      serverFrame(0x89, Buffer.from('now')),
      serverFrame(0x8a, Buffer.alloc(0)),
      serverFrame(0x80, Buffer.from('cd')),
      serverFrame(0x88, Buffer.alloc(0)),
    ]);
    for (let cut = 0; cut <= all.length; cut++) {
      const { bytes, events } = read(all, [cut]);
      assert.deepEqual([bytes.toString(), events], ['abcd', ['ping now', 'close']]);
    }
  });

  it('rejects masked frames, reserved bits, texts, and long or fragmented control frames', () => {
    const bad = ['8280', 'c200', '8100', '8300', '897e00ff', '0900', '827fffffffffffffffff'];
    for (const hex of bad) {
      assert.throws(() => read(Buffer.from(hex, 'hex'), []), { code: 'CLUSTER_MALFORMED' }, hex);
    }
  });
});

describe('what a client sends', () => {
  it('is masked with zeros, with a length of 7, 16 or 64 bits', () => {
    assert.equal(messageHead(125).toString('hex'), '82fd00000000');
    assert.equal(messageHead(126).toString('hex'), '82fe007e00000000');
    assert.equal(messageHead(65_536).toString('hex'), '82ff000000000001000000000000');
    assert.equal(pong(Buffer.from('ab')).toString('hex'), '8a82000000006162');
    assert.equal(closeFrame().toString('hex'), '88820000000003e8');
  });
});
