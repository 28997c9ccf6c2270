import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeSocketAddress,
  encodeSocketAddress,
  MOST_SOCKET_ADDRESS_BYTES,
} from './socket-address.ts';

describe('socket addresses', () => {
  const into = Buffer.alloc(MOST_SOCKET_ADDRESS_BYTES, 0xff);

  for (const address of ['10.96.0.1', '255.255.255.255', 'fd00:96::1', '::', '2001:db8::ffff:1']) {
    it(`reads what it wrote: ${address}`, () => {
      const length = encodeSocketAddress(into, { address, port: 65_535 });
      assert.equal(length, address.includes(':') ? 28 : 16);
      assert.deepEqual(decodeSocketAddress(into), { address, port: 65_535 });
    });
  }

  it('writes the bytes of struct sockaddr_in', () => {
    const length = encodeSocketAddress(into, { address: '1.2.3.4', port: 0x1234 });
    assert.equal(into.toString('hex', 0, length), '02001234010203040000000000000000');
  });

  it('rejects what is not an address', () => {
    assert.throws(() => encodeSocketAddress(into, { address: 'localhost', port: 1 }), RangeError);
    assert.throws(() => decodeSocketAddress(Buffer.alloc(28)), RangeError);
  });
});
