import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { commentUdata, readUdata, shortened, udata } from './userdata.ts';

const MOST_BYTES = 127;

describe('user data', () => {
  it('reads back what was written, by type', () => {
    const entries = fc.uniqueArray(fc.tuple(fc.nat(255), fc.string({ maxLength: 60 })), {
      selector: ([type]) => type,
      maxLength: 4,
    });
    fc.assert(
      fc.property(entries, (list) => {
        const binary = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
        const bytes = Buffer.from(
          list.map(([type, text]) => udata(type, binary(text).slice(0, 255))).join(''),
          'latin1',
        );
        for (const [type, text] of list) {
          assert.equal(readUdata(bytes, type)?.toString('latin1'), binary(text).slice(0, 255));
        }
      }),
    );
  });

  it('reads any bytes to their end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(255), (bytes, type) => {
        const found = readUdata(Buffer.from(bytes), type);
        assert.ok(found === undefined || found.length <= bytes.length);
      }),
    );
  });

  it('writes a comment in UTF-8 with a zero at its end, for any characters', () => {
    for (const text of ['ns/service:http', 'größe', '漢字', '']) {
      const bytes = Buffer.from(commentUdata(3, text), 'latin1');
      assert.equal(readUdata(bytes, 3)?.toString('utf8'), `${text}\0`);
    }
  });

  it('cuts a comment where nft would not take it, between two characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const cut = shortened(text);
        assert.ok(Buffer.byteLength(cut) <= MOST_BYTES);
        const isWhole = Buffer.byteLength(text) <= MOST_BYTES;
        assert.ok(isWhole ? cut === text : cut.endsWith('...'));
        if (!isWhole) assert.ok(text.startsWith(cut.slice(0, -3)), cut);
        assert.ok(commentUdata(0, text).length <= MOST_BYTES + 3);
      }),
    );
  });
});
