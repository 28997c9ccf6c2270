import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLine } from '../../log/json-line.ts';
import { rounded, textLine } from './stream-logger.ts';

test('formats lines like those of Kubernetes components', () => {
  const timeMs = Date.UTC(2026, 10, 15, 9, 49, 1, 123);
  const fields = { pid: 7, program: 'nft -f', unknown: undefined };
  assert.equal(
    textLine({ level: 'warn', fields, message: 'touched' }, timeMs),
    'W1115 09:49:01.123 touched pid=7 program="nft -f"',
  );
});

test('formats objects for programs that read logs', () => {
  const fields = { pid: 7, unknown: undefined };
  assert.equal(
    jsonLine({ level: 'info', fields, message: 'a "quoted"\nline' }, 5),
    '{"level":30,"time":5,"pid":7,"msg":"a \\"quoted\\"\\nline"}',
  );
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
  const fields = { by: { pid: 1 }, bytes: 12n };
  assert.equal(
    textLine({ level: 'info', fields, message: 'x' }, 0),
    'I0101 00:00:00.000 x by={"pid":1} bytes="12"',
  );
});

test('writes an error as its stack, and does not fail for what JSON cannot show', () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const failure = new Error('no');
  const record = { level: 'error', fields: { failure, circular }, message: 'x' } as const;
  assert.match(
    textLine(record, 0),
    /failure="Error: no\\n .* circular="cannot be shown: TypeError/,
  );
  const { msg, fields } = JSON.parse(jsonLine(record, 0));
  assert.equal(msg, 'x');
  assert.match(fields, /^cannot be shown: TypeError/);
  const only = { ...record, fields: { failure } };
  assert.match(JSON.parse(jsonLine(only, 0)).failure, /^Error: no\n/);
});

test('escapes line ends and terminal sequences in values', () => {
  const hostile = 'a\x1b[2J\nE0101 00:00:00.000 forged\r\x9b8m\u202e\u2028';
  const fields = { service: hostile, bare: '\x1b[8m\u202e', of: { name: hostile } };
  const line = textLine({ level: 'warn', fields, message: hostile }, 0);
  assert.doesNotMatch(line, /[\p{Cc}\u2028-\u202e]/u);
  assert.match(line, /^W0101 00:00:00\.000 a\\x1b\[2J\\nE0101 .* bare=\\x1b\[8m\\u202e of=\{/);
});
