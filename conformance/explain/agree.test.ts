import assert from 'node:assert/strict';
import { it } from 'node:test';
import { disagreement, type Predicted } from './agree.ts';

const AROUND = {
  podAddresses: new Map([
    ['a', ['10.0.0.1']],
    ['b', ['fd00::b']],
    ['asker', ['10.0.0.9']],
  ]),
  ownAddresses: ['10.0.0.9'],
  comparesSource: true,
  isExhaustive: true,
};
const TO_BOTH: Predicted = {
  code: 'WOULD_REACH',
  action: 'forward',
  masquerade: false,
  endpoints: ['10.0.0.1:80', '[fd00::b]:80'],
};
const answered = (by: string, source = '10.0.0.9') => ({ kind: 'answered', by, source }) as const;

it('agrees where the predicted endpoints answered, and saw the predicted source', () => {
  assert.equal(disagreement(TO_BOTH, [answered('a'), answered('b')], AROUND), undefined);
  const masqueraded = { ...TO_BOTH, masquerade: true };
  const seen = [answered('a', '172.30.0.1'), answered('b', '172.30.0.1')];
  assert.equal(disagreement(masqueraded, seen, AROUND), undefined);
  const except = { ...masqueraded, keepingSource: ['[fd00::b]:80'] };
  const mixed = [answered('a', '172.30.0.1'), answered('b')];
  assert.equal(disagreement(except, mixed, AROUND), undefined);
});

it('disagrees on another endpoint, one that never answers, and another source', () => {
  const other = disagreement(TO_BOTH, [answered('a'), answered('b'), answered('asker')], AROUND);
  assert.match(other ?? '', /asker is none of 10\.0\.0\.1:80/);
  assert.match(disagreement(TO_BOTH, [answered('a')], AROUND) ?? '', /fd00::b\]:80 never answered/);
  const seen = [answered('a', '172.30.0.1'), answered('b')];
  assert.match(disagreement(TO_BOTH, seen, AROUND) ?? '', /should have been that of the client/);
  const masqueraded = { ...TO_BOTH, masquerade: true };
  const plain = disagreement(masqueraded, [answered('a'), answered('b')], AROUND);
  assert.match(plain ?? '', /should not have been that of the client/);
});

it('holds a rejection against refusals, and a drop against silence', () => {
  const refused = { kind: 'refused', afterMs: 1 } as const;
  const silent = { kind: 'silent' } as const;
  const reject: Predicted = { code: 'REFUSED_NO_ENDPOINTS', action: 'reject' };
  const drop: Predicted = { code: 'DROPPED_SOURCE_RANGE', action: 'drop' };
  assert.equal(disagreement(reject, [refused], AROUND), undefined);
  assert.equal(disagreement(drop, [silent], AROUND), undefined);
  assert.match(disagreement(reject, [refused, silent], AROUND) ?? '', /not all were refused/);
  assert.match(disagreement(drop, [refused], AROUND) ?? '', /not all were silent/);
});
