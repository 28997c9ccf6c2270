import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { readTableRule } from './rule-codec.ts';

const FRA_FWMARK = 10;
const FRA_SUPPRESS_PREFIXLEN = 14;
const FRA_TABLE = 15;

/** The body of RTM_NEWRULE: family, lengths, tos, table, action and flags, then attributes. */
function body(fixed: readonly number[], attributes: readonly [number, number][] = []): Buffer {
  const writer = new NetlinkWriter();
  writer.raw(Uint8Array.from(fixed));
  for (const [type, value] of attributes) writer.u32le(type, value);
  return Buffer.from(writer.bytes);
}

const read = (bytes: Buffer) =>
  readTableRule({ type: 32, flags: 0, sequence: 0, portId: 0, body: bytes });
const TO_MAIN = [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0];

describe('a routing rule', () => {
  it('for every packet is decoded with its table', () => {
    const none = { suppressedPrefixLength: undefined };
    assert.deepEqual(read(body(TO_MAIN)), { family: 'IPv4', table: 254, ...none });
    const large = body([10, 0, 0, 0, 252, 0, 0, 1, 0, 0, 0, 0], [[FRA_TABLE, 51_820]]);
    assert.deepEqual(read(large), { family: 'IPv6', table: 51_820, ...none });
    const suppressing = body(TO_MAIN, [[FRA_SUPPRESS_PREFIXLEN, 0]]);
    assert.equal(read(suppressing)?.suppressedPrefixLength, 0);
    assert.equal(read(body(TO_MAIN, [[FRA_SUPPRESS_PREFIXLEN, 0xffff_ffff]]))?.table, 254);
  });

  it('for marked packets counts only if it is inverted', () => {
    assert.equal(read(body(TO_MAIN, [[FRA_FWMARK, 7]])), undefined);
    const inverted = TO_MAIN.with(8, 2);
    assert.equal(read(body(inverted, [[FRA_FWMARK, 7]]))?.table, 254);
    assert.equal(read(body(inverted)), undefined);
  });

  it('for some packets, or with another action, is left out', () => {
    for (const at of [1, 2, 3]) assert.equal(read(body(TO_MAIN.with(at, 8))), undefined);
    assert.equal(read(body(TO_MAIN.with(7, 6))), undefined);
    assert.equal(read(body(TO_MAIN.with(0, 28))), undefined);
  });

  it('is decoded from any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        read(Buffer.from(bytes));
        read(Buffer.concat([Buffer.from(TO_MAIN), bytes]));
      }),
      { numRuns: 2000 },
    );
  });
});
