import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Prediction } from '../forwarding/answer/prediction.ts';
import type { Forwarding, Frontend } from '../forwarding/model.ts';
import { disturbedRow } from './agent-word.ts';
import { exitOf } from './codes.ts';
import type { AgentWord } from './explanation.ts';
import type { Observed } from './proof/proof.ts';

const FORWARD: Prediction = {
  code: 'WOULD_REACH',
  action: 'forward',
  list: 'cluster',
  masquerade: false,
  endpoints: [],
  affinitySeconds: 0,
  row: {} as Forwarding,
  frontend: {} as Frontend,
};
const PASS: Prediction = { code: 'NO_SUCH_ADDRESS', action: 'pass' };
const UNDISTURBED: AgentWord = { pid: 1, detached: [], troubles: [] };
const DISTURBED: AgentWord = { ...UNDISTURBED, disturber: 'nft (pid 7)' };
const rejected = (ours: boolean): Observed => ({
  is: 'rejected',
  by: { table: 'ip fairlead', chain: 'refuse', handle: 7, ours },
});

function codeOf(
  outcome: Observed,
  { agent = DISTURBED, prediction = FORWARD }: { agent?: AgentWord; prediction?: Prediction } = {},
): string | undefined {
  const of = { prediction, packet: { outcome }, service: 'shop/web', subject: 'pod shop/cart' };
  return disturbedRow(agent, of)?.code;
}

describe('disturbedRow()', () => {
  it('names the process that removed the rules which a packet did not meet', () => {
    assert.equal(codeOf({ is: 'passed' }), 'NOT_IN_KERNEL');
    assert.equal(codeOf(rejected(true)), 'NOT_IN_KERNEL');
    const of = { prediction: FORWARD, service: 'shop/web', subject: 'pod shop/cart' };
    const told = disturbedRow(DISTURBED, { ...of, packet: { outcome: { is: 'passed' } } });
    assert.match(told?.sentence ?? '', /shop\/web was not in the kernel .*: nft \(pid 7\) has/);
  });

  it('accuses nobody if no process has changed rules', () => {
    assert.equal(codeOf({ is: 'passed' }, { agent: UNDISTURBED }), undefined);
  });

  it('is silent where a packet met its row, or a rule of another program', () => {
    const forwarded = { is: 'forwarded', endpoint: '10.1.0.2:80', seenAs: '10.1.0.1:1' } as const;
    assert.equal(codeOf(forwarded), undefined);
    assert.equal(codeOf({ is: 'lost', after: 'prerouting' }), undefined);
    assert.equal(codeOf(rejected(false)), undefined);
    assert.equal(codeOf({ is: 'passed' }, { prediction: PASS }), undefined);
  });
});

it('gives exit code 4 for every packet that differs, and else that of the code', () => {
  assert.equal(exitOf({ code: 'NOT_IN_KERNEL', proof: { agrees: false } }), 4);
  assert.equal(exitOf({ code: 'NOT_IN_KERNEL', proof: null }), 3);
  assert.equal(exitOf({ code: 'REACHES', proof: { agrees: true } }, true), 0);
  assert.equal(exitOf({ code: 'WOULD_REACH', proof: null }), 5);
  assert.equal(exitOf({ code: 'WOULD_REACH', proof: { agrees: true } }), 5);
  assert.equal(exitOf({ code: 'NO_ANSWER', proof: { agrees: true } }), 3);
});
