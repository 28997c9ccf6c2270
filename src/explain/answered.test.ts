import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Forwarded } from '../forwarding/answer/prediction.ts';
import type { Forwarding, Frontend } from '../forwarding/model.ts';
import { absenceOf } from './absent-agent.ts';
import { answered } from './answered.ts';
import { worstOf } from './asked-addresses.ts';
import { type Code, certaintyOf, exitOf } from './codes.ts';
import type { Explanation } from './explanation.ts';
import type { ProvenPacket } from './proof/proof.ts';

const ENDPOINT = '10.1.0.2:53';
const FORWARD: Forwarded = {
  code: 'WOULD_REACH',
  action: 'forward',
  list: 'cluster',
  masquerade: false,
  endpoints: [{ address: '10.1.0.2', port: 53, local: true }],
  affinitySeconds: 0,
  row: { id: { namespace: 'shop', service: 'dns', port: '', protocol: 'UDP' } } as Forwarding,
  frontend: { kind: 'cluster-ip', address: '10.96.0.10', port: 53 } as Frontend,
};
const PACKET = {
  kind: 'connect',
  outcome: { is: 'forwarded', endpoint: ENDPOINT, seenAs: '10.1.0.1:40000' },
  answer: { is: 'answered', afterMs: 1 },
} as const satisfies Partial<ProvenPacket>;
const TO = { address: '10.96.0.10', port: 53, protocol: 'UDP' } as const;
const WORDS = { subject: 'pod shop/cart', to: TO, predicted: 'pod shop/cart would reach it' };

describe('answered()', () => {
  const codeOf = (packet: Partial<ProvenPacket> | undefined): string =>
    answered(FORWARD, packet && { ...PACKET, ...packet }, WORDS).code;

  it('says REACHES only where an endpoint has answered', () => {
    assert.equal(codeOf({}), 'REACHES');
    assert.equal(codeOf({ answer: { is: 'accepted', afterMs: 1 } }), 'REACHES');
    assert.equal(codeOf(undefined), 'WOULD_REACH');
    assert.equal(codeOf({ kind: 'dry', answer: { is: 'silent' } }), 'WOULD_REACH');
    const handedOver = { outcome: { is: 'handed over' }, answer: { is: 'accepted', afterMs: 1 } };
    assert.equal(codeOf(handedOver as Partial<ProvenPacket>), 'WOULD_REACH');
    assert.equal(codeOf({ answer: { is: 'silent' } }), 'NO_ANSWER');
  });

  it('judges a packet straight to an endpoint by its answer', () => {
    const direct = { code: 'NOT_TRANSLATED', action: 'pass', endpointOf: FORWARD.row } as const;
    const passed = { ...PACKET, outcome: { is: 'passed' } } as const;
    const { code, sentence } = answered(direct, passed, WORDS);
    assert.equal(code, 'REACHES');
    assert.match(sentence, /reaches 10\.96\.0\.10:53\/udp, an endpoint of shop\/dns, directly$/);
    assert.equal(answered(direct, undefined, WORDS).code, 'NOT_TRANSLATED');
  });

  it('says in the sentence what was not asked', () => {
    const dry = { ...PACKET, kind: 'dry', answer: { is: 'silent' } } as const;
    assert.match(
      answered(FORWARD, undefined, WORDS).sentence,
      /only predicted, no packet was sent$/,
    );
    assert.match(answered(FORWARD, dry, WORDS).sentence, /10\.1\.0\.2:53, which was not asked$/);
  });
});

describe('worstOf()', () => {
  const explained = (code: Code, certainty: Explanation['certainty'] = 'predicted') =>
    ({ code, certainty, sentence: code, question: { frontend: code } }) as Explanation;

  it('takes a contradiction first, then what does not reach, then what is only predicted', () => {
    const all = [
      explained('REACHES', 'proven'),
      explained('WOULD_REACH'),
      explained('NO_SUCH_ADDRESS'),
      explained('DROPPED_SOURCE_RANGE'),
      explained('NOT_IN_KERNEL', 'contradicted'),
    ];
    const { code, addresses = [] } = worstOf(all);
    assert.equal(code, 'NOT_IN_KERNEL');
    assert.deepEqual(
      addresses.map(({ code: each }) => each),
      all.map(({ code: each }) => each).reverse(),
    );
  });

  it('lists no addresses where one was asked', () => {
    assert.equal(worstOf([explained('WOULD_REACH')]).addresses, undefined);
  });
});

it('tells a machine without rules from one whose agent left its rules', () => {
  const nothing = absenceOf({ objects: [], unread: [], agentIs: 'absent' }, 'shop/web:http');
  const rules = absenceOf(
    { objects: ['1 tables'], unread: [], agentIs: 'absent' },
    'shop/web:http',
  );
  const unknown = absenceOf(
    { objects: [], unread: ['nftables: EPERM'], agentIs: 'absent' },
    'shop/web:http',
  );
  const exits = [nothing, rules, unknown].map(({ code }) => exitOf({ code, proof: null }));
  assert.deepEqual(exits, [3, 5, 5]);
  assert.match(nothing.sentence, /its kernel has no rules of Fairlead: nothing forwards to shop/);
  assert.match(unknown.sentence, /not known: nftables: EPERM$/);
});

it('is proven only where the packet did what the code says', () => {
  assert.equal(certaintyOf('REACHES', { agrees: true }), 'proven');
  assert.equal(certaintyOf('DROPPED_SOURCE_RANGE', { agrees: true }), 'proven');
  assert.equal(certaintyOf('WOULD_REACH', { agrees: true }), 'predicted');
  assert.equal(certaintyOf('REFUSED_NO_ENDPOINTS', undefined), 'predicted');
  assert.equal(certaintyOf('ENDPOINT_SILENT', { agrees: false }), 'contradicted');
});
