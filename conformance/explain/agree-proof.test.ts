import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ProofOfPacket, proofDisagrees } from './agree-proof.ts';

const ANSWERED = { kind: 'answered', by: 'a', source: '10.0.0.9' } as const;
const REFUSED = { kind: 'refused', afterMs: 1 } as const;
const SILENT = { kind: 'silent' } as const;
const REACHED: ProofOfPacket = {
  kind: 'syn',
  agrees: true,
  outcome: { is: 'forwarded', endpoint: '10.0.0.1:80' },
  answer: { is: 'accepted' },
};

function told(proof: ProofOfPacket) {
  return { code: 'CODE', sentence: 'what happened', proof };
}

it('agrees where the probe met what the packets met', () => {
  assert.equal(proofDisagrees(told(REACHED), [ANSWERED]), undefined);
  const dropped = { ...REACHED, outcome: { is: 'dropped' }, answer: { is: 'silent' } } as const;
  assert.equal(proofDisagrees(told(dropped), [SILENT]), undefined);
  const rejected = { ...REACHED, outcome: { is: 'rejected' }, answer: { is: 'refused' } } as const;
  assert.equal(proofDisagrees(told(rejected), [REFUSED]), undefined);
});

it('disagrees where the probe met something else', () => {
  assert.match(proofDisagrees(told(REACHED), [REFUSED]) ?? '', /was answered .*refused/);
  const dropped = { ...REACHED, outcome: { is: 'dropped' }, answer: { is: 'silent' } } as const;
  assert.match(proofDisagrees(told(dropped), [ANSWERED]) ?? '', /was silent .*answered/);
});

it('expects no answer of a dry probe', () => {
  const dry = { ...REACHED, kind: 'dry', answer: { is: 'silent' } } as const;
  assert.equal(proofDisagrees(told(dry), [ANSWERED]), undefined);
  assert.match(
    proofDisagrees(told({ ...dry, agrees: false }), [ANSWERED]) ?? '',
    /not do as predicted/,
  );
});

it('accepts a dead endpoint that some of the packets met too', () => {
  const refused = { ...REACHED, agrees: false, answer: { is: 'refused' } } as const;
  assert.equal(proofDisagrees(told(refused), [ANSWERED, REFUSED]), undefined);
  const wrong = { ...told(refused), code: 'NOT_AS_PREDICTED' };
  assert.match(proofDisagrees(wrong, [ANSWERED, REFUSED]) ?? '', /not do as predicted/);
});

it('accepts a fault behind Fairlead that the packets met too', () => {
  const silent = { ...REACHED, agrees: false, answer: { is: 'silent' } } as const;
  assert.equal(proofDisagrees(told(silent), [SILENT]), undefined);
  assert.match(proofDisagrees(told(silent), [ANSWERED]) ?? '', /was silent/);
});

it('takes a connection that a forwarder accepts and resets for refused', () => {
  const accepted = { ...told({ ...REACHED, agrees: false }), code: 'ENDPOINT_SILENT' };
  assert.equal(proofDisagrees(accepted, [REFUSED]), undefined);
  assert.match(proofDisagrees(accepted, [ANSWERED]) ?? '', /was refused .*answered/);
});
