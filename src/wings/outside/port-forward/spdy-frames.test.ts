import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { dataHead, pingAnswer, reset, SpdyReader, synStream } from './spdy-frames.ts';

function read(all: Buffer, cuts: readonly number[]): string[] {
  const heard: string[] = [];
  const data = new Map<number, string>();
  const reader = new SpdyReader({
    onReply: (id) => heard.push(`reply ${id}`),
    onData: (id, bytes) => data.set(id, `${data.get(id) ?? ''}${bytes.toString()}`),
    onEnd: (id) => heard.push(`end ${id} ${data.get(id) ?? ''}`),
    onReset: (id) => heard.push(`reset ${id}`),
    onPing: (body) => heard.push(`ping ${body.readUInt32BE(0)}`),
    onGoAway: () => heard.push('go away'),
  });
  const ends = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b);
  let at = 0;
  for (const end of [...ends, all.length]) {
    reader.push(all.subarray(at, end));
    at = end;
  }
  return heard;
}

const SERVER_SENDS = Buffer.concat([
  Buffer.from('800300020000000a00000001', 'hex'),
  Buffer.alloc(6),
  Buffer.from('800300020100000400000003', 'hex'),
  dataHead(5, 5, false),
  Buffer.from('hello'),
  Buffer.from('800300060000000400000002', 'hex'),
  dataHead(5, 1, true),
  Buffer.from('!'),
  dataHead(7, 0, true),
  Buffer.from('80030003000000080000000900000005', 'hex'),
  Buffer.from('80030007000000080000000000000000', 'hex'),
]);

describe('a SPDY reader', () => {
  it('reports the same, however the bytes are cut', () => {
    const expected = ['reply 1', 'reply 3', 'end 3 ', 'ping 2', 'end 5 hello!', 'end 7 '];
    const all = [...expected, 'reset 9', 'go away'];
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        assert.deepEqual(read(SERVER_SENDS, cuts), all);
      }),
    );
  });

  it('rejects a control frame that it would have to keep for long', () => {
    assert.throws(() => read(Buffer.from('80030002000fffff', 'hex'), []), {
      code: 'CLUSTER_MALFORMED',
    });
  });
});

describe('what is sent', () => {
  it('begins the compressed headers once, as stored blocks, each followed by an empty one', () => {
    const stream = { id: 1, headers: { a: 'bc' }, isFinished: true };
    const headers = '00000001 00000001 61 00000002 6263'.replaceAll(' ', '');
    const block = `000f00f0ff${headers}000000ffff`;
    assert.equal(
      synStream({ ...stream, isFirst: true }).toString('hex'),
      `800300010100002900000001000000000000${'7820e3c6a7c2'}${block}`,
    );
    assert.equal(
      synStream({ ...stream, id: 3, isFirst: false, isFinished: false }).toString('hex'),
      `800300010000002300000003000000000000${block}`,
    );
  });

  it('has the flag for the end in the first byte of the length', () => {
    assert.equal(dataHead(3, 258, false).toString('hex'), '0000000300000102');
    assert.equal(dataHead(3, 0, true).toString('hex'), '0000000301000000');
    assert.equal(reset(3).toString('hex'), '80030003000000080000000300000005');
    assert.equal(pingAnswer(Buffer.from([0, 0, 0, 2])).toString('hex'), '800300060000000400000002');
  });
});
