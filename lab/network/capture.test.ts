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

  it('reads an empty set as no escapes', () => {
    assert.deepEqual(parseEscapes('{"nftables":[{"set":{"name":"escaped-ipv4"}}]}'), []);
  });
});
