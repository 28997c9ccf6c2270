import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDurationMs } from './duration.ts';

/** Text, milliseconds, and what Go prints for it: all recorded from kube-proxy 1.37.1. */
const READ_BY_GO: readonly (readonly [string, number, string])[] = [
  ['0', 0, '0s'],
  ['0s', 0, '0s'],
  ['30s', 30_000, '30s'],
  ['15m', 900_000, '15m0s'],
  ['1h0m0s', 3_600_000, '1h0m0s'],
  ['1h1m1.5s', 3_661_500, '1h1m1.5s'],
  ['1.5h', 5_400_000, '1h30m0s'],
  ['1m90s', 150_000, '2m30s'],
  ['.5s', 500, '500ms'],
  ['1.s', 1000, '1s'],
  ['10ms', 10, '10ms'],
  ['100us', 0.1, '100µs'],
  ['100µs', 0.1, '100µs'],
  ['1500ns', 0.0015, '1.5µs'],
  ['+5s', 5000, '5s'],
  ['-1s', -1000, '-1s'],
  ['0.3ns', 0, '0s'],
  ['2562047h', 9_223_369_200_000, '2562047h0m0s'],
];

const REJECTED_BY_GO = [
  '',
  '-',
  '30',
  '1d',
  '.s',
  's',
  '1s1',
  '1 s',
  ' 1s',
  '1S',
  '3000000h',
  '--1s',
];

test('parses and formats durations as Go does', () => {
  for (const [text, ms, printed] of READ_BY_GO) {
    assert.equal(parseDurationMs(text), ms, text);
    assert.equal(formatDuration(ms), printed, text);
  }
});

test('rejects what Go rejects', () => {
  for (const text of REJECTED_BY_GO) assert.equal(parseDurationMs(text), undefined, text);
});

test('parses a formatted duration to the same value', () => {
  fc.assert(
    fc.property(fc.integer({ min: -9e12, max: 9e12 }), (ms) => {
      assert.equal(parseDurationMs(formatDuration(ms)), ms);
    }),
  );
});

test('never throws, for any text', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseDurationMs(text)));
});
