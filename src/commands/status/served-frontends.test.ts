import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ContentCounts } from '../../forwarding/contents.ts';
import type { Forwarding, Frontend } from '../../forwarding/model.ts';
import { servedFrontends } from './served-frontends.ts';

const OUTCOME = { action: 'reject' } as const;
const OUTCOMES = { pod: OUTCOME, host: OUTCOME, outside: OUTCOME };

function row(service: string, frontends: readonly Pick<Frontend, 'kind' | 'address' | 'port'>[]) {
  const id = { namespace: 'shop', service, port: 'http', protocol: 'TCP', family: 'IPv4' } as const;
  const endpoint = { address: '10.244.0.1', port: 8080, local: true };
  return {
    id,
    frontends: frontends.map((each) => ({ ...each, outcomes: OUTCOMES })),
    clusterEndpoints: [endpoint, { ...endpoint, port: 8081 }],
    localEndpoints: [endpoint],
    affinitySeconds: 0,
  } satisfies Forwarding;
}

const HELD = { reason: 'api-server' } as const;

it('lists every served address, and none for a node port', () => {
  const many = Array.from({ length: 1_201 }, (_, n) =>
    row(`s${n}`, [{ kind: 'cluster-ip', address: '10.96.0.1', port: 1 + n }]),
  );
  const nodePort = row('web', [{ kind: 'node-port', address: '', port: 30_080 }]);
  const page = servedFrontends([...many, nodePort]);
  assert.equal(page.length, 1_202);
  const [first, last] = [page[0], page.at(-1)];
  const of = { protocol: 'TCP', family: 'IPv4' };
  assert.deepEqual(first, { service: 'shop/s0:http', ...of, address: '10.96.0.1', port: 1 });
  assert.deepEqual(last, { service: 'shop/web:http', ...of, port: 30_080 });
  assert.deepEqual(servedFrontends([]), []);
});

it('leaves out what is not served, like the count of contents', () => {
  const { frontends, ...rest } = row('a', [{ kind: 'external-ip', address: '10.0.0.1', port: 80 }]);
  const unserved = { ...rest, frontends: frontends.map((each) => ({ ...each, notServed: HELD })) };
  const rows = [unserved, row('b', [{ kind: 'node-port', address: '', port: 30_000 }])];
  assert.equal(servedFrontends(rows).length, 1);
  const counted = new ContentCounts();
  for (const each of rows) counted.replace(`shop/${each.id.service}`, [], [each]);
  assert.deepEqual(counted.counts, { services: 2, frontends: 1, endpoints: 4 });
});
