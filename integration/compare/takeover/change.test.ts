import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ChangeResult, faultsOf } from './change.ts';
import { evidenceOf } from './report.ts';

const STREAM = { answers: 100, longestSilenceMs: 40 };
const TALLY = {
  made: 500,
  failed: 0,
  refusedOrReset: 0,
  longestPauseMs: 9,
  odd: [],
  stream: STREAM,
};
const UNNOTICED: ChangeResult = {
  sequence: 'any',
  from: 'the old one',
  to: 'the new one',
  begunMs: 1_000,
  tookMs: 2_000,
  load: [TALLY, TALLY],
  lines: { added: 0, gone: 0 },
  left: [],
  counters: { 'node TcpAttemptFails': 7 },
  tracked: [],
};

it('a change without failures has no faults, and needs no evidence', () => {
  assert.deepEqual(faultsOf(UNNOTICED), []);
  assert.equal(evidenceOf(UNNOTICED), '');
});

it('a failed connection, a lost packet, an ended stream and rules of the old one are faults', () => {
  const faulty = (more: Partial<ChangeResult>): string[] => faultsOf({ ...UNNOTICED, ...more });
  assert.deepEqual(faulty({ load: [TALLY, { ...TALLY, failed: 2 }] }), ['2 connections failed']);
  assert.deepEqual(faulty({ counters: { 'asker TcpExtTCPSynRetrans': 3 } }), [
    '3 times the begin of a connection was lost',
  ]);
  assert.deepEqual(
    faulty({ load: [{ ...TALLY, stream: { ...STREAM, error: 'ECONNRESET' } }, TALLY] }),
    ['a stream ended: ECONNRESET'],
  );
  assert.deepEqual(faulty({ left: ['+ a line'] }), [
    "1 lines are not the new owner's, as + a line",
  ]);
});

it('the evidence says when it failed, as seen from the change, and what was counted', () => {
  const odd = { way: 'pod to cluster IP', sourcePort: 10_001, begunMs: 1_500, tookMs: 60_000 };
  const load = [{ ...TALLY, failed: 1, odd: [{ ...odd, error: 'no answer in time' }] }, TALLY];
  const text = evidenceOf({ ...UNNOTICED, load, tracked: ['tcp 6 100 SYN_SENT'] });
  assert.match(text, /port 10001 +begun at 500 ms +60000 ms +no answer in time/);
  assert.match(text, /SYN_SENT/);
  assert.match(text, /node TcpAttemptFails \+7/);
});
