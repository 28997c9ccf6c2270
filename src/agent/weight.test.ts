import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwarding, Frontend } from '../forwarding/model.ts';
import { weightOf } from './weight.ts';

const reject = { action: 'reject' } as const;
const outcomes = { pod: reject, host: reject, outside: reject };

function frontend(index: number, allowedSources?: readonly string[]): Frontend {
  const address = `192.0.2.${index}`;
  const base = { kind: 'external-ip', address, port: 80, outcomes } as const;
  return allowedSources === undefined ? base : { ...base, allowedSources };
}

function row(frontends: readonly Frontend[], endpointCount: number): Forwarding {
  const endpoint = { address: '10.0.0.1', port: 80, local: false };
  return {
    id: { namespace: 'ns', service: 's', port: '', protocol: 'TCP', family: 'IPv4' },
    frontends,
    clusterEndpoints: new Array(endpointCount).fill(endpoint),
    localEndpoints: new Array(2).fill(endpoint),
    affinitySeconds: 0,
  };
}

test('counts frontends and both lists of endpoints, before and after', () => {
  const small = row([frontend(1)], 5);
  const large = row([frontend(1), frontend(2)], 1000);
  assert.equal(weightOf({ before: 'absent', after: small }), 8);
  assert.equal(weightOf({ before: small, after: large }), 8 + 1004);
  assert.equal(weightOf({ before: large, after: undefined }), 1004);
});

test('counts source ranges that frontends share once, and others each', () => {
  const shared = new Array(100).fill('10.0.0.0/8');
  const own = new Array(7).fill('10.0.0.0/8');
  const of = [frontend(1, shared), frontend(2, own), frontend(3, shared), frontend(4)];
  assert.equal(weightOf({ before: 'absent', after: row(of, 0) }), 4 + 2 + 107);
});
