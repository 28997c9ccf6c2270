import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withBeyond } from './beyond.ts';
import type { Explanation } from './explanation.ts';

const SILENT = {
  code: 'ENDPOINT_SILENT',
  node: 'node1',
  question: { protocol: 'TCP', from: { address: '10.1.0.1' } },
  proof: { outcome: { is: 'forwarded', endpoint: '10.1.3.17:8080', seenAs: '10.1.0.1:40001' } },
  candidates: [
    { endpoint: '10.1.0.2:8080', nodeName: 'node1' },
    { endpoint: '10.1.3.17:8080', nodeName: 'node3' },
  ],
  next: ['first this'],
} as unknown as Explanation;

it('asks the node of an endpoint that did not answer', () => {
  assert.deepEqual(withBeyond(SILENT).beyond, {
    node: 'node3',
    target: '10.1.3.17:8080',
    from: '10.1.0.1',
  });
  assert.deepEqual(withBeyond(SILENT).next, [
    'first this',
    'ip route get 10.1.3.17',
    'on node3: fairlead explain 10.1.3.17:8080 --from 10.1.0.1 --watch 60s, while the client connects',
  ]);
  const udp = {
    ...SILENT,
    code: 'NO_ANSWER',
    question: { ...SILENT.question, protocol: 'UDP' },
  } as Explanation;
  assert.equal(withBeyond(udp).beyond?.target, '10.1.3.17:8080/udp');
});

it('asks the node of the endpoint that failed, where the first packet got another one', () => {
  const each = [
    { endpoint: '10.1.0.2:8080', nodeName: 'node1', code: 'REACHES', next: [] },
    { endpoint: '10.1.3.17:8080', nodeName: 'node3', code: 'ENDPOINT_SILENT', next: [] },
  ] as const;
  const outcome = { is: 'forwarded', endpoint: '10.1.0.2:8080', seenAs: '10.1.0.1:1' };
  const some = { ...SILENT, code: 'SOME_ENDPOINTS_FAIL', each, proof: { outcome, drop: null } };
  assert.equal(withBeyond(some as unknown as Explanation).beyond?.node, 'node3');
});

it('asks no other node where the packet did not leave this one', () => {
  const here = { outcome: { is: 'forwarded', endpoint: '10.1.0.2:8080', seenAs: '' } };
  assert.equal(withBeyond({ ...SILENT, proof: here } as Explanation).beyond, undefined);
  const reached = { ...SILENT, code: 'REACHES' } as Explanation;
  assert.equal(withBeyond(reached).beyond, undefined);
});
