import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dnsAddresses, dnsQuery } from './dns-message.ts';

const NAME = 'web.default.svc.cluster.local';

/** The query with one answer behind it, whose name is a pointer to that of the question. */
function answer(id: number, type: number, bytes: readonly number[]): Buffer {
  const query = dnsQuery(id, NAME, type === 1 ? 'ipv4' : 'ipv6');
  query.writeUInt16BE(0x8580, 2);
  query.writeUInt16BE(1, 6);
  const record = [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 5, 0, bytes.length, ...bytes];
  return Buffer.concat([query, Buffer.from(record)]);
}

describe('DNS messages', () => {
  it('asks for a name label by label', () => {
    const query = dnsQuery(7, 'a.bc', 'ipv6');
    const header = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    assert.deepEqual([...query], [...header, 1, 97, 2, 98, 99, 0, 0, 28, 0, 1]);
  });

  it('reads the addresses of both families', () => {
    assert.deepEqual(dnsAddresses(7, answer(7, 1, [10, 96, 0, 10])), ['10.96.0.10']);
    const ipv6 = [0xfd, 0, 0, 0x96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a];
    assert.deepEqual(dnsAddresses(7, answer(7, 28, ipv6)), ['fd00:96::a']);
  });

  it('reads no address where there is none, and nothing from an answer to another query', () => {
    assert.deepEqual(dnsAddresses(7, dnsQuery(7, NAME, 'ipv4')), []);
    assert.equal(dnsAddresses(8, answer(7, 1, [10, 96, 0, 10])), undefined);
    assert.equal(dnsAddresses(8, Buffer.alloc(3)), undefined);
  });
});
