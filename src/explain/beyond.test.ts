import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withBeyond } from './beyond.ts';
import type { Explanation } from './explanation.ts';

const SILENT = {
  code: 'ENDPOINT_SILENT',
  node: 'node1',
  question: { protocol: 'TCP' },
  proof: { outcome: { is: 'forwarded', endpoint: '10.1.3.17:8080' }, drop: null },
  candidates: [
    { endpoint: '10.1.0.2:8080', nodeName: 'node1' },
    { endpoint: '10.1.3.17:8080', nodeName: 'node3' },
  ],
  next: ['first this'],
} as unknown as Explanation;

it('asks the node of an endpoint that did not answer', () => {
  assert.deepEqual(withBeyond(SILENT).beyond, { node: 'node3', target: '10.1.3.17:8080' });
  assert.deepEqual(withBeyond(SILENT).next, [
    'first this',
    'kubectl fairlead explain 10.1.3.17:8080 --from host --node node3',
  ]);
  const udp = { ...SILENT, code: 'NO_ANSWER', question: { protocol: 'UDP' } } as Explanation;
  assert.equal(withBeyond(udp).beyond?.target, '10.1.3.17:8080/udp');
});

it('asks the node of the endpoint that failed, where the first packet got another one', () => {
  const each = [
    { endpoint: '10.1.0.2:8080', nodeName: 'node1', code: 'REACHES', next: [] },
    { endpoint: '10.1.3.17:8080', nodeName: 'node3', code: 'ENDPOINT_SILENT', next: [] },
  ] as const;
  const outcome = { is: 'forwarded', endpoint: '10.1.0.2:8080', seenAs: '' };
  const some = { ...SILENT, code: 'SOME_ENDPOINTS_FAIL', each, proof: { outcome, drop: null } };
  assert.equal(withBeyond(some as unknown as Explanation).beyond?.node, 'node3');
});

it('asks no other node where the packet did not leave this one', () => {
  const here = { outcome: { is: 'forwarded', endpoint: '10.1.0.2:8080' }, drop: null };
  assert.equal(withBeyond({ ...SILENT, proof: here } as Explanation).beyond, undefined);
  const reached = { ...SILENT, code: 'REACHES' } as Explanation;
  assert.equal(withBeyond(reached).beyond, undefined);
});
