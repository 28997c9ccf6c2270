import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type NetlinkMessage, readMessages } from '../netlink/reader.ts';
import {
  ADDRESS_GONE,
  ADDRESSES_ANSWER,
  ADDRESSES_QUESTION,
  BRIDGE_PORT_GONE,
  LINKS_QUESTION,
  VETH_ANSWER,
} from '../netlink/testing/captured-netlink.ts';
import { readAddressChange } from './address-codec.ts';
import { readLinkChange } from './link-codec.ts';
import { applyChange, emptyTables, readRouteChange } from './link-tables.ts';
import { addressesQuestion, linksQuestion } from './route-protocol.ts';

const ORDINARY = {
  linkIndex: 7,
  scope: 'global',
  temporary: false,
  tentative: false,
  duplicate: false,
  deprecated: false,
};

/** The one message in some bytes, with bytes of its body replaced. */
function only(bytes: Buffer, body: Readonly<Record<number, number>> = {}): NetlinkMessage {
  const [message] = readMessages(Buffer.from(bytes));
  assert.ok(message);
  for (const [at, value] of Object.entries(body)) message.body[Number(at)] = value;
  return message;
}

const LAST_ADDRESS = [...readMessages(ADDRESSES_ANSWER)].at(-1);
const IPV6_FLAGS_AT = (LAST_ADDRESS?.body.length ?? 0) - 4;

function ipv6WithFlags(flags: number) {
  assert.ok(LAST_ADDRESS);
  const body = Buffer.from(LAST_ADDRESS.body);
  body.writeUInt32LE(flags, IPV6_FLAGS_AT);
  return readAddressChange({ ...LAST_ADDRESS, body })?.address;
}

describe('requests', () => {
  it('are those that a kernel answered', () => {
    assert.deepEqual(linksQuestion(1).bytes, LINKS_QUESTION);
    assert.deepEqual(addressesQuestion(2).bytes, ADDRESSES_QUESTION);
  });
});

describe('an address', () => {
  it('of either family is decoded in its canonical spelling', () => {
    const found = [...readMessages(ADDRESSES_ANSWER)].map((m) => readAddressChange(m)?.address);
    const lo = { ...ORDINARY, linkIndex: 1, scope: 'host' };
    assert.deepEqual(found, [
      { ...lo, address: '127.0.0.1', family: 'IPv4', prefixLength: 8 },
      { ...ORDINARY, address: '192.0.2.10', family: 'IPv4', prefixLength: 24 },
      // Ours, not that of the peer.
      { ...ORDINARY, address: '198.51.100.1', family: 'IPv4', prefixLength: 32 },
      { ...lo, address: '::1', family: 'IPv6', prefixLength: 128 },
      { ...ORDINARY, address: '2001:db8::10', family: 'IPv6', prefixLength: 64 },
    ]);
  });

  it('that is removed has the key with which it was added', () => {
    const gone = readAddressChange(only(ADDRESS_GONE));
    const came = [...readMessages(ADDRESSES_ANSWER)].map((m) => readAddressChange(m)?.key);
    assert.equal(gone?.address, undefined);
    assert.equal(gone?.key, came[1]);
    assert.equal(new Set(came).size, came.length);
  });

  it('has the state of its 32-bit flags', () => {
    assert.equal(ipv6WithFlags(0x01)?.temporary, true);
    assert.equal(ipv6WithFlags(0x08)?.duplicate, true);
    assert.equal(ipv6WithFlags(0x20)?.deprecated, true);
    assert.equal(ipv6WithFlags(0x40)?.tentative, true);
    assert.equal(ipv6WithFlags(0x80)?.tentative, false);
  });

  it('of IPv4 that is secondary in its subnet is not temporary', () => {
    const second = only(ADDRESSES_ANSWER, { 2: 0x81 });
    assert.equal(readAddressChange(second)?.address?.temporary, false);
  });

  it('of another family is left out', () => {
    assert.equal(readAddressChange(only(ADDRESS_GONE, { 0: 28 })), undefined);
  });
});

describe('a link', () => {
  it('is decoded with its kind and state', () => {
    const flags = { up: false, loopback: false };
    const link = { index: 7, name: 'uplink', kind: 'veth', ...flags, master: 0, mtu: 1500 };
    assert.deepEqual(readLinkChange(only(VETH_ANSWER)), { of: 'link', index: 7, link });
    const up = readLinkChange(only(VETH_ANSWER, { 8: 0x43 }));
    assert.deepEqual(up?.link, { ...link, up: true });
  });

  it('that leaves a bridge is not removed', () => {
    assert.equal(readLinkChange(only(BRIDGE_PORT_GONE)), undefined);
  });

  it('that is removed is reported so', () => {
    const change = readLinkChange(only(BRIDGE_PORT_GONE, { 0: 0 }));
    assert.deepEqual(change, { of: 'link', index: 7, link: undefined });
  });
});

describe('tables', () => {
  it('are the same when a change comes twice', () => {
    const once = emptyTables();
    const twice = emptyTables();
    const bytes = Buffer.concat([VETH_ANSWER, ADDRESSES_ANSWER, ADDRESS_GONE]);
    for (const message of readMessages(bytes)) {
      const change = readRouteChange(message);
      assert.ok(change);
      applyChange(once, change);
      applyChange(twice, change);
      applyChange(twice, change);
    }
    assert.deepEqual(once, twice);
    assert.equal(once.addresses.size, 4);
    assert.equal(once.links.size, 1);
  });

  it('accept any bytes without throwing', () => {
    const bodies = [VETH_ANSWER, ADDRESSES_ANSWER, ADDRESS_GONE].map((bytes) => only(bytes).body);
    const mutilated = fc
      .record({
        body: fc.oneof(fc.constantFrom(...bodies), fc.uint8Array({ maxLength: 100 })),
        blows: fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { maxLength: 8 }),
        end: fc.nat(1200),
        type: fc.constantFrom(16, 17, 20, 21),
      })
      .map(({ body, blows, end, type }) => {
        const bytes = Buffer.from(body.subarray(0, end));
        for (const [at, value] of blows) if (at < bytes.length) bytes[at] = value;
        return { type, flags: 0, sequence: 0, portId: 0, body: bytes };
      });
    fc.assert(
      fc.property(mutilated, (message) => {
        const change = readRouteChange(message);
        if (change !== undefined) applyChange(emptyTables(), change);
      }),
      { numRuns: 2000 },
    );
  });
});
