import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { formatIp, parseIp } from './ip.ts';
import { ipv4Number } from './ipv4-number.ts';

it('is the number of the four bytes from parsing', () => {
  fc.assert(
    fc.property(fc.ipV4(), (text) => {
      const bytes = Buffer.from(parseIp(text)?.bytes ?? []);
      assert.equal(ipv4Number(formatIp({ version: 4, bytes })), bytes.readInt32BE());
    }),
  );
});

it('is undefined for IPv6', () => {
  fc.assert(fc.property(fc.ipV6(), (text) => assert.equal(ipv4Number(text), undefined)));
  assert.equal(ipv4Number('::'), undefined);
});
