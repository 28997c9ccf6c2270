import assert from 'node:assert/strict';
import { it } from 'node:test';
import { goTime, microTime } from './go-time.ts';

it('writes times as Go does in JSON: no trailing zeros, no empty fraction', () => {
  const atMs = Date.UTC(2026, 10, 15, 9, 28, 21);
  assert.equal(goTime(atMs + 864), '2026-11-15T09:28:21.864Z');
  assert.equal(goTime(atMs + 860), '2026-11-15T09:28:21.86Z');
  assert.equal(goTime(atMs), '2026-11-15T09:28:21Z');
  assert.equal(goTime(0), '0001-01-01T00:00:00Z');
});

it('writes the times of Events with six digits', () => {
  assert.equal(microTime(Date.UTC(2026, 10, 15, 9, 28, 7, 904)), '2026-11-15T09:28:07.904000Z');
});
