import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PlaneResult } from '../../break/faults/plane/plane-fault.ts';
import { isPassed, upgradesTable } from './report.ts';

const fault = { name: '', done: '', happen: () => Promise.reject(new Error('not run')) };
const right: PlaneResult = { fault, outcome: { rightAfter: 'p50 9 ms', lost: 'nothing: 0 of 9' } };

it('says in the first line in how many modes clients noticed it', () => {
  const passed = { mode: 'one', result: right };
  const failed = { mode: 'other', result: { fault, failure: '2 of 9 connections failed' } };
  const [first] = upgradesTable('abc', [passed, failed]).split('\n');
  assert.equal(first, 'NOTICED in 1 of 2 modes: from abc to this version and back, three times.');
  assert.match(upgradesTable('abc', [passed]), /^Unnoticed in the one mode that was run/);
  assert.match(upgradesTable('abc', [failed]), /other: FAIL: 2 of 9 connections failed/);
});

it('does not pass a mode that was skipped', () => {
  const outcome = { rightAfter: '', lost: '', skipped: 'no such commit' };
  assert.equal(isPassed({ mode: 'one', result: { fault, outcome } }), false);
});
