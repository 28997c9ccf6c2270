import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rounded, textLine } from './logger.ts';

test('formats lines like those of Kubernetes components', () => {
  const time = Date.UTC(2026, 10, 15, 9, 49, 1, 123);
  const json = JSON.stringify({ level: 40, time, pid: 7, program: 'nft -f', msg: 'touched' });
  assert.equal(textLine(json), 'W1115 09:49:01.123 touched pid=7 program="nft -f"');
});

test('rounds fractions, and keeps whole numbers', () => {
  const fields = {
    durationMs: 205.11946899999975,
    shortMs: 0.0123456,
    midMs: 12.345678,
    pid: 10344,
  };
  assert.deepEqual(rounded(fields), { durationMs: 205, shortMs: 0.0123, midMs: 12.3, pid: 10344 });
  assert.deepEqual(rounded({ text: '1.23456', none: undefined }), {
    text: '1.23456',
    none: undefined,
  });
});

test('writes values that are not strings as JSON', () => {
  const json = JSON.stringify({ level: 30, time: 0, by: { pid: 1 }, msg: 'x' });
  assert.equal(textLine(json), 'I0101 00:00:00.000 x by={"pid":1}');
});

test('escapes line ends and terminal sequences in values', () => {
  const hostile = 'a\x1b[2J\nE0101 00:00:00.000 forged\r\x9b8m\u202e\u2028';
  const told = { level: 40, time: 0, service: hostile, bare: '\x1b[8m\u202e', msg: hostile };
  const line = textLine(JSON.stringify({ ...told, of: { name: hostile } }));
  assert.doesNotMatch(line, /[\p{Cc}\u2028-\u202e]/u);
  assert.match(line, /^W0101 00:00:00\.000 a\\x1b\[2J\\nE0101 .* bare=\\x1b\[8m\\u202e of=\{/);
});
