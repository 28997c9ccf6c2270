import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Forwarding } from '../../../forwarding/model.ts';
import { endpointChainName, rowChainNames } from './chain-names.ts';
import { walkRow, wayOf } from './iptables-walk.ts';
import { SETTING, upstreamRows } from './testing/iptables-rows.ts';

function rowNamed(service: string, port: string): Forwarding {
  const found = upstreamRows().find(({ id }) => id.service === service && id.port === port);
  assert.ok(found);
  return found;
}

/** The ways of the frontends of one kind, chains of the Service by what they are for. */
function waysOf(row: Forwarding, kind: string): string[] {
  const names = Object.entries(rowChainNames(row.id)).map(([what, name]) => [name, what] as const);
  const endpoints = row.clusterEndpoints.map((endpoint) => {
    const text = `${endpoint.address}:${endpoint.port}`;
    return [endpointChainName(row.id, text), text] as const;
  });
  const words = new Map([...names, ...endpoints]);
  const walk = walkRow(row, SETTING).find(({ frontend }) => frontend.kind === kind);
  return wayOf(walk?.visits ?? []).map((way) =>
    way.replaceAll(/KUBE-(SVC|SVL|EXT|FW|SEP)-\w+/g, (name) => words.get(name) ?? name),
  );
}

it('leads from a cluster IP to one of all endpoints', () => {
  assert.deepEqual(waysOf(rowNamed('plain', ''), 'cluster-ip'), [
    'nat PREROUTING > KUBE-SERVICES > cluster > 10.200.0.10:8080 or 10.200.0.1:8080 or 10.200.0.2:8080',
    'filter FORWARD > KUBE-FORWARD',
    'nat POSTROUTING > KUBE-POSTROUTING',
  ]);
});

it('leads from a node port with externalTrafficPolicy Local to both lists, by source class', () => {
  assert.deepEqual(waysOf(rowNamed('lb', 'web'), 'node-port'), [
    'nat PREROUTING > KUBE-SERVICES > KUBE-NODEPORTS > external > cluster or local > 10.200.0.1:8080 or 10.200.0.2:8080',
    'filter FORWARD > KUBE-FORWARD',
    'nat POSTROUTING > KUBE-POSTROUTING',
  ]);
});

it('drops where packets to the node arrive when this node has no endpoint', () => {
  const ways = waysOf(rowNamed('lb', 'other'), 'node-port');
  assert.ok(ways.includes('filter INPUT > KUBE-EXTERNAL-SERVICES'), ways.join('\n'));
  assert.ok(!ways.some((way) => way.includes('local')));
});

it('checks source ranges before the endpoints, and drops what they exclude', () => {
  const [first = '', second = ''] = waysOf(rowNamed('lb', 'web'), 'load-balancer-ip');
  assert.match(first, /^nat PREROUTING > KUBE-SERVICES > firewall > external > /);
  assert.equal(second, 'filter INPUT > KUBE-PROXY-FIREWALL');
});

it('rejects without any endpoint, and neither translates nor masquerades', () => {
  assert.deepEqual(waysOf(rowNamed('six', 'none'), 'cluster-ip'), [
    'filter FORWARD > KUBE-SERVICES',
  ]);
});
