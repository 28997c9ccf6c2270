import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Prediction } from '../../forwarding/answer/prediction.ts';
import type { Forwarding, Frontend } from '../../forwarding/model.ts';
import { type JudgedCase, judge } from './judge.ts';
import type { Observed, ProvenPacket } from './proof.ts';

const FOUND = { row: {} as Forwarding, frontend: {} as Frontend };
const FORWARD: Prediction = {
  code: 'WOULD_REACH',
  action: 'forward',
  list: 'cluster',
  masquerade: false,
  endpoints: [{ address: '10.1.0.2', port: 8080, local: true }],
  affinitySeconds: 0,
  ...FOUND,
};
const REJECT: Prediction = { code: 'REFUSED_NO_ENDPOINTS', action: 'reject', ...FOUND };
/** A node port on loopback, at which the agent does not listen now. */
const NOT_RELAYED: Prediction = { ...REJECT, code: 'REFUSED_NO_ENDPOINTS', relayed: true };
const DROP: Prediction = { code: 'DROPPED_NO_LOCAL_ENDPOINTS', action: 'drop', ...FOUND };
const PASS: Prediction = { code: 'NO_SUCH_ADDRESS', action: 'pass' };

const OF: JudgedCase = {
  subject: 'pod shop/cart',
  source: { class: 'pod', address: '10.1.0.1', because: '' },
  goal: 'shop/web (10.96.0.10:80)',
  protocol: 'TCP',
  shares: [],
  to: '10.96.0.10',
  nodeName: 'node1',
};
const ACCEPTED = { is: 'accepted', afterMs: 1 } as const;
const SILENT = { is: 'silent' } as const;
const REFUSED = { is: 'refused', afterMs: 1 } as const;
const TO_ENDPOINT: Observed = {
  is: 'forwarded',
  endpoint: '10.1.0.2:8080',
  seenAs: '10.1.0.1:40000',
};
const rule = (ours: boolean) => ({ table: 'ip fairlead', chain: 'refuse', handle: 7, ours });

/** The code of a difference; undefined: the packet did as predicted. */
function codeOf(
  prediction: Prediction,
  proof: Partial<ProvenPacket>,
  more: Partial<JudgedCase> = {},
): string | undefined {
  const packet = {
    kind: 'syn',
    outcome: TO_ENDPOINT,
    answer: ACCEPTED,
    drop: null,
  } as const;
  const judgement = judge(prediction, { ...packet, ...proof }, { ...OF, ...more });
  return judgement.agrees ? undefined : judgement.code;
}

describe('judge()', () => {
  it('agrees with what was predicted', () => {
    assert.equal(codeOf(FORWARD, {}), undefined);
    assert.equal(codeOf(FORWARD, { kind: 'dry', answer: SILENT }), undefined);
    assert.equal(
      codeOf(FORWARD, { kind: 'connect', answer: SILENT }, { protocol: 'UDP' }),
      undefined,
    );
    const passed = { outcome: { is: 'passed' }, answer: REFUSED } as const;
    assert.equal(codeOf(NOT_RELAYED, passed), undefined);
    assert.equal(codeOf(REJECT, passed), 'NOT_AS_PREDICTED');
    assert.equal(codeOf(NOT_RELAYED, { ...passed, answer: ACCEPTED }), 'NOT_AS_PREDICTED');
    const rejected: Observed = { is: 'rejected', by: rule(true) };
    assert.equal(codeOf(REJECT, { outcome: rejected, answer: REFUSED }), undefined);
    const dropped: Observed = { is: 'dropped', by: rule(true) };
    assert.equal(codeOf(DROP, { outcome: dropped, answer: SILENT }), undefined);
    assert.equal(codeOf(PASS, { outcome: { is: 'passed' } }), undefined);
    assert.equal(codeOf(PASS, { outcome: { is: 'lost', after: 'prerouting' } }), undefined);
  });

  it('names the endpoint that does not answer', () => {
    assert.equal(codeOf(FORWARD, { answer: SILENT }), 'ENDPOINT_SILENT');
    assert.equal(codeOf(FORWARD, { answer: REFUSED }), 'ENDPOINT_REFUSES');
    const handed: Observed = { is: 'handed over', reached: false };
    assert.equal(codeOf(FORWARD, { kind: 'connect', outcome: handed }), 'ENDPOINT_SILENT');
  });

  it('names a conntrack entry where no rule translated a packet', () => {
    const passed: Observed = { is: 'passed' };
    const packet = { kind: 'syn', outcome: passed, answer: SILENT, drop: null } as const;
    const judged = judge(FORWARD, packet, OF);
    assert.match(judged.agrees ? '' : judged.sentence, /a conntrack entry of an earlier/);
    assert.match(judged.agrees ? '' : judged.next.join(), /conntrack -D --orig-dst 10\.96\.0\.10/);
  });

  it('tells a program that does not accept from one that is silent', () => {
    const full = { answer: SILENT, acceptQueue: { length: 129, limit: 128 } };
    assert.equal(codeOf(FORWARD, full), 'ENDPOINT_OVERLOADED');
    const free = { answer: SILENT, acceptQueue: { length: 0, limit: 128 } };
    assert.equal(codeOf(FORWARD, free), 'ENDPOINT_SILENT');
  });

  it('finds a path that swallows large packets, if the connection stays open', () => {
    const large = {
      bytes: 16_384,
      acknowledged: 0,
      segmentBytes: 1448,
      isCarried: false,
      hasEnded: false,
    };
    const codeWith = (more: object) =>
      codeOf(FORWARD, { kind: 'connect', large: { ...large, ...more } });
    assert.equal(codeWith({}), 'LARGE_PACKETS_LOST');
    assert.equal(codeWith({ acknowledged: 1448, isCarried: true }), undefined);
    assert.equal(codeWith({ hasEnded: true }), undefined);
  });

  it('takes a datagram that the kernel dropped for lost, and no answer alone for nothing', () => {
    const datagram = { kind: 'connect', answer: SILENT } as const;
    const cause = { code: 'NO_NEIGHBOUR', sentence: '', next: [] } as const;
    const drop = { cause } as unknown as ProvenPacket['drop'];
    assert.equal(codeOf(FORWARD, { ...datagram, drop }, { protocol: 'UDP' }), 'NO_NEIGHBOUR');
    assert.equal(codeOf(FORWARD, datagram, { protocol: 'UDP' }), undefined);
  });

  it('names a rule of another program, whatever was predicted', () => {
    const dropped: Observed = { is: 'dropped', by: rule(false) };
    const rejected: Observed = { is: 'rejected', by: rule(false) };
    for (const prediction of [FORWARD, REJECT, DROP, PASS]) {
      assert.equal(codeOf(prediction, { outcome: dropped }), 'DROPPED_BY_RULE');
      assert.equal(codeOf(prediction, { outcome: rejected }), 'REFUSED_BY_RULE');
    }
  });

  it('tells a lost packet from one without a route', () => {
    const lost: Observed = { is: 'lost', after: 'prerouting' };
    for (const prediction of [FORWARD, REJECT, DROP]) {
      assert.equal(codeOf(prediction, { outcome: lost, answer: SILENT }), 'DROPPED_BY_KERNEL');
    }
    const answer = { is: 'unreachable', code: 'ENETUNREACH', afterMs: 0 } as const;
    assert.equal(codeOf(FORWARD, { outcome: { is: 'lost', after: '' }, answer }), 'NO_ROUTE');
  });

  it('disagrees on another endpoint, another source, and another verdict of our rules', () => {
    const elsewhere = { ...TO_ENDPOINT, endpoint: '10.1.0.9:8080' };
    assert.equal(codeOf(FORWARD, { outcome: elsewhere }), 'NOT_AS_PREDICTED');
    const sent = {
      kind: 'syn',
      outcome: elsewhere,
      answer: ACCEPTED,
      drop: null,
      steps: [],
    } as const;
    const judged = judge(FORWARD, sent, OF);
    assert.match(judged.agrees ? '' : judged.next.join(' '), /fairlead diff.*conntrack -D/);
    const masqueraded = { ...TO_ENDPOINT, seenAs: '10.1.0.10:40000' };
    assert.equal(codeOf(FORWARD, { outcome: masqueraded }), 'NOT_AS_PREDICTED');
    assert.equal(codeOf({ ...FORWARD, masquerade: true }, {}), 'NOT_AS_PREDICTED');
    assert.equal(codeOf(FORWARD, { outcome: { is: 'passed' } }), 'NOT_AS_PREDICTED');
    assert.equal(
      codeOf(FORWARD, { outcome: { is: 'dropped', by: rule(true) } }),
      'NOT_AS_PREDICTED',
    );
    for (const prediction of [REJECT, DROP, PASS]) {
      assert.equal(codeOf(prediction, {}), 'NOT_AS_PREDICTED');
    }
  });

  it('accepts an own address of the forwarder, which may not have that of the client', () => {
    const own = { ...TO_ENDPOINT, seenAs: '172.30.1.1:40000' };
    assert.equal(codeOf(FORWARD, { outcome: { ...own, byProgram: 'process' } }), undefined);
    assert.equal(codeOf(FORWARD, { outcome: own }), 'NOT_AS_PREDICTED');
    const kept: Observed = { ...TO_ENDPOINT, byProgram: 'process' };
    assert.equal(codeOf({ ...FORWARD, masquerade: true }, { outcome: kept }), 'NOT_AS_PREDICTED');
  });

  it('does not compare the source of the node itself, which may stay the same', () => {
    const source = { class: 'host', address: '192.0.2.1', because: '' } as const;
    assert.equal(codeOf({ ...FORWARD, masquerade: true }, {}, { source }), undefined);
  });
});
