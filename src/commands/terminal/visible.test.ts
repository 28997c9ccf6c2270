import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { styleText } from 'node:util';
import fc from 'fast-check';
import { visible, visibleButStyles, visibleJson, visiblePage } from './visible.ts';

/** Whatever a terminal acts on, or does not show where it stands. */
const ACTS = /[\p{Cc}\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

describe('untrusted text on a terminal', () => {
  it('is unchanged without special characters', () => {
    for (const text of ['shop/web:http', 'Größe 日本 😀', 'a\\x1b', '']) {
      assert.equal(visible(text), text);
      assert.equal(visiblePage(text), text);
    }
  });

  it('shows control characters as escapes', () => {
    assert.equal(visible('a\x1b[2J\x07\n\r\t\0'), 'a\\x1b[2J\\x07\\n\\r\\t\\x00');
    assert.equal(visible('\x7f\x9b31m'), '\\x7f\\x9b31m');
    assert.equal(
      visible('\u202egnp\u2066\u200b\u2028\ufeff'),
      '\\u202egnp\\u2066\\u200b\\u2028\\ufeff',
    );
    assert.equal(visible('\ud800 \u{e0041}'), '\\ud800 \\u{e0041}');
  });

  it('keeps the lines and tabs of a page, and our own colours', () => {
    const red = styleText('red', 'no', { validateStream: false });
    assert.notEqual(red, 'no');
    assert.equal(visiblePage(`a\n\t${red}\r`), `a\n\t${red}\\r`);
    assert.equal(visibleButStyles(`${red}\n`), `${red}\\n`);
  });

  it('treats no other sequence as a colour', () => {
    for (const text of ['\x1b[8m', '\x1b[31;5m', '\x1b]0;m\x07', '\x1b[0m', '\x1bm', '\x9b31m']) {
      assert.doesNotMatch(visiblePage(text), ACTS, JSON.stringify(text));
    }
  });

  it('never acts, whatever the text', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('\x1b', '[', 'm', '\n'), fc.string()),
    });
    fc.assert(fc.property(text, (any) => assert.doesNotMatch(visible(any), ACTS)));
  });

  it('is the same value in JSON, and does not act there either', () => {
    const text = fc.string({ unit: 'binary' });
    const some = { 'a\x9b\u202e\u{e0041}': '\x7f\u2028\x1b[2J\n' };
    fc.assert(
      fc.property(fc.oneof(fc.constant(some), fc.array(text)), (value) => {
        const json = visibleJson(JSON.stringify(value, null, 2));
        assert.deepEqual(JSON.parse(json), value);
        assert.doesNotMatch(json.replaceAll('\n', ''), ACTS);
      }),
    );
  });
});
