import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEscapes } from './capture.ts';

describe('parseEscapes()', () => {
  it('reads what nft lists of the set', () => {
    const listing = {
      nftables: [
        { metainfo: { version: '1.0.6' } },
        {
          set: {
            family: 'inet',
            name: 'escaped-ipv6',
            elem: [
              {
                elem: {
                  val: { concat: ['fd00:96:0:0::7', 'udp', 53] },
                  counter: { packets: 3, bytes: 99 },
                },
              },
            ],
          },
        },
      ],
    };
    assert.deepEqual(parseEscapes(JSON.stringify(listing)), [
      { address: 'fd00:96::7', protocol: 'UDP', port: 53, packets: 3 },
    ]);
  });

  it('reads echo requests, which have no port', () => {
    const element = (address: string, protocol: string): object => ({
      elem: { val: { concat: [address, protocol, 0] }, counter: { packets: 1 } },
    });
    const elem = [element('10.96.0.7', 'icmp'), element('fd00:96::7', 'ipv6-icmp')];
    assert.deepEqual(parseEscapes(JSON.stringify({ nftables: [{ set: { elem } }] })), [
      { address: '10.96.0.7', protocol: 'ICMP', port: 0, packets: 1 },
      { address: 'fd00:96::7', protocol: 'ICMP', port: 0, packets: 1 },
    ]);
  });

  it('reads an empty set as no escapes', () => {
    assert.deepEqual(parseEscapes('{"nftables":[{"set":{"name":"escaped-ipv4"}}]}'), []);
  });
});
