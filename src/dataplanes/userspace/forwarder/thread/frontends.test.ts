import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SOURCE_CLASSES } from '../../../../forwarding/model.ts';
import { encodeSocketAddress } from '../../../../linux/sockets/socket-address.ts';
import { Frontends } from './frontends.ts';

describe('frontends', () => {
  for (const [address, other] of [
    ['255.255.255.255', '0.0.0.0'],
    ['fd00::1', 'fd00::2'],
  ] as const) {
    it(`are found by address, port and source class: ${address}`, () => {
      const frontends = new Frontends();
      const isIPv6 = address.includes(':');
      const bytes = Buffer.alloc(28);
      const questions = [address, other].flatMap((each) =>
        [80, 65_535].flatMap((port) =>
          SOURCE_CLASSES.map((source) => ({ address: each, port, source })),
        ),
      );
      const added = questions.map((question) => frontends.add(question));
      for (const [index, { source, ...at }] of questions.entries()) {
        encodeSocketAddress(bytes, at);
        const found = frontends.find(bytes, isIPv6, SOURCE_CLASSES.indexOf(source));
        assert.equal(found, added[index]);
      }
      const [first] = questions;
      assert.ok(first);
      frontends.delete(first);
      assert.equal(frontends.get(first), undefined);
      assert.equal(frontends.get({ ...first, source: 'host' }), added[1]);
    });
  }
});
