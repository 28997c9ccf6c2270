import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textLine } from './logger.ts';

test('a line of the log reads like those of Kubernetes', () => {
  const time = Date.UTC(2026, 10, 15, 9, 49, 1, 123);
  const json = JSON.stringify({ level: 40, time, pid: 7, program: 'nft -f', msg: 'touched' });
  assert.equal(textLine(json), 'W1115 09:49:01.123 touched pid=7 program="nft -f"');
});

test('what is no text is written as JSON', () => {
  const json = JSON.stringify({ level: 30, time: 0, by: { pid: 1 }, msg: 'x' });
  assert.equal(textLine(json), 'I0101 00:00:00.000 x by={"pid":1}');
});
