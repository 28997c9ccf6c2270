import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Forwarding, Outcome } from '../forwarding/model.ts';
import { NoLocalCounts } from './no-local.ts';

it('counts service ports whose endpoints are all on other nodes, as they come and go', () => {
  const counts = new NoLocalCounts();
  const first = row('IPv4', { internal: DROP, external: DROP });
  const second = row('IPv4', { internal: FORWARD, external: DROP });
  counts.change({ before: undefined, after: first });
  counts.change({ before: undefined, after: second });
  counts.change({
    before: undefined,
    after: row('IPv6', { internal: REJECT, external: REJECT }),
  });
  assert.deepEqual(told(counts), [1, 2, 0, 0]);
  const third = row('IPv4', { internal: FORWARD, external: FORWARD });
  counts.change({ before: second, after: third });
  assert.deepEqual(told(counts), [1, 1, 0, 0]);
  counts.change({ before: first, after: undefined });
  counts.change({ before: third, after: undefined });
  assert.deepEqual(told(counts), [0, 0, 0, 0]);
});

/** IPv4 internal and external, then those of IPv6. */
function told(counts: NoLocalCounts): number[] {
  return counts.counts().map(({ count }) => count);
}

const DROP: Outcome = { action: 'drop' };
const REJECT: Outcome = { action: 'reject' };
const FORWARD: Outcome = { action: 'forward', list: 'cluster', masquerade: false };

function row(
  family: 'IPv4' | 'IPv6',
  { internal, external }: { internal: Outcome; external: Outcome },
): Forwarding {
  const same = (outcome: Outcome) => ({ pod: outcome, host: outcome, outside: outcome });
  return {
    id: { namespace: 'a', service: 'b', port: '', protocol: 'TCP', family },
    frontends: [
      { kind: 'cluster-ip', address: '10.0.0.1', port: 80, outcomes: same(internal) },
      { kind: 'node-port', address: '', port: 30_000, outcomes: same(external) },
      { kind: 'external-ip', address: '192.0.2.1', port: 80, outcomes: same(external) },
    ],
    clusterEndpoints: [],
    localEndpoints: [],
    affinitySeconds: 0,
  };
}
