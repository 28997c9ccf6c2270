import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { askDns } from './check-names.ts';
import { decodeAnswer, encodeQuestion, TYPE_A, TYPE_AAAA } from './dns-message.ts';

const NAME = 'kubernetes.default.svc.cluster.local';
const QUESTION = { id: 7, name: NAME, type: TYPE_A } as const;

/** The question with an answer of CNAME and address behind it, the names as pointers. */
function answerTo(question: Buffer, options: { address?: Buffer; rcode?: number } = {}): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (options.rcode ?? 0), 2);
  const address = options.address ?? Buffer.from([10, 96, 0, 1]);
  const type = address.length === 4 ? TYPE_A : TYPE_AAAA;
  head.writeUInt16BE(options.rcode ? 0 : 2, 6);
  const record = (kind: number, data: Buffer): Buffer => {
    const fixed = Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 5, 0, data.length]);
    return Buffer.concat([fixed, data]);
  };
  if (options.rcode) return head;
  return Buffer.concat([head, record(5, Buffer.from([1, 97, 0])), record(type, address)]);
}

describe('messages of DNS', () => {
  it('are encoded as RFC 1035 has them', () => {
    const bytes = encodeQuestion({ id: 7, name: 'a.bc.', type: TYPE_A });
    const head = '000701000001000000000000';
    assert.equal(bytes.toString('hex'), `${head}01610262630000010001`);
  });

  it('are decoded with addresses of the type that was asked for', () => {
    const bytes = answerTo(encodeQuestion(QUESTION));
    assert.deepEqual(decodeAnswer(bytes, QUESTION), { addresses: ['10.96.0.1'], error: undefined });
    assert.deepEqual(decodeAnswer(bytes, { ...QUESTION, type: TYPE_AAAA })?.addresses, []);
    assert.equal(decodeAnswer(bytes, { ...QUESTION, id: 8 }), undefined);
    const unknown = answerTo(encodeQuestion(QUESTION), { rcode: 3 });
    assert.deepEqual(decodeAnswer(unknown, QUESTION), { addresses: [], error: 'NXDOMAIN' });
  });

  it('are decoded from any bytes without throwing', () => {
    const right = answerTo(encodeQuestion(QUESTION));
    const blows = fc.array(fc.tuple(fc.nat(right.length - 1), fc.nat(255)), { maxLength: 6 });
    fc.assert(
      fc.property(blows, fc.nat(right.length), (changes, end) => {
        const bytes = Buffer.from(right);
        for (const [at, value] of changes) bytes[at] = value;
        bytes.writeUInt16BE(QUESTION.id, 0);
        decodeAnswer(bytes.subarray(0, end), QUESTION);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a question to a DNS server', () => {
  const signal = new AbortController().signal;

  it('is answered by UDP', async () => {
    const server = dgram.createSocket('udp4');
    server.on('message', (bytes, { port, address }) => server.send(answerTo(bytes), port, address));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    const request = {
      server: '127.0.0.1',
      port,
      name: NAME,
      type: TYPE_A,
      transport: 'UDP',
    } as const;
    assert.deepEqual((await askDns(request, signal))?.addresses, ['10.96.0.1']);
    server.close();
    assert.equal(await askDns(request, signal), undefined, 'after the server has closed');
  });

  it('is answered by TCP, also in pieces', async () => {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        const answer = answerTo(bytes.subarray(2));
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(length, () => socket.write(answer));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const request = {
      server: '127.0.0.1',
      port,
      name: NAME,
      type: TYPE_A,
      transport: 'TCP',
    } as const;
    assert.deepEqual((await askDns(request, signal))?.addresses, ['10.96.0.1']);
    server.close();
    await once(server, 'close');
    assert.equal(await askDns(request, signal), undefined, 'after the server has closed');
  });
});
