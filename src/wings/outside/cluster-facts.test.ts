import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Connection } from '../../cluster/api-connection.ts';
import { RestClient } from '../../cluster/rest-client.ts';
import { FakeApiServer } from '../../cluster/testing/fake-api-server.ts';
import { openAccess } from '../../cluster/testing/open-access.ts';
import { missingNamespaces, readClusterFacts } from './cluster-facts.ts';

const NODES = {
  items: [
    { spec: { podCIDRs: ['10.244.0.0/24', 'fd00:1::/64'] } },
    { spec: { podCIDRs: ['10.244.1.0/24'] } },
    {
      metadata: { name: 'node3' },
      spec: {},
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.3' }] },
    },
  ],
};
const DNS = {
  items: [
    { metadata: { name: 'headless' }, spec: { clusterIPs: ['None'] } },
    { metadata: { name: 'rke2-coredns' }, spec: { clusterIPs: ['10.96.0.10', 'fd00:96::a'] } },
  ],
};

async function clientOf(t: TestContext, pages: Readonly<Record<string, object>>) {
  const server = await FakeApiServer.start((exchange) => {
    const page = pages[exchange.path];
    if (page === undefined) exchange.reject(404);
    else exchange.answer(200, page);
  });
  t.after(() => server[Symbol.asyncDispose]());
  const connection = new Connection({ access: openAccess(server.url) });
  t.after(() => connection.close());
  return new RestClient(connection, new AbortController().signal);
}

it('reads ranges, Nodes and the DNS Service', async (t) => {
  const client = await clientOf(t, {
    '/api/v1/nodes': NODES,
    '/apis/networking.k8s.io/v1/servicecidrs': {
      items: [{ spec: { cidrs: ['10.96.0.0/12', 'fd00:96::/108'] } }],
    },
    '/api/v1/namespaces/kube-system/services': DNS,
  });
  assert.deepEqual(await readClusterFacts(client), {
    serviceRanges: ['10.96.0.0/12', 'fd00:96::/108'],
    podRanges: ['10.244.0.0/23', 'fd00:1::/64'],
    nodeCount: 3,
    nodeAddresses: new Map([['192.0.2.3', 'node3']]),
    dns: {
      namespace: 'kube-system',
      name: 'rke2-coredns',
      addresses: ['10.96.0.10', 'fd00:96::a'],
    },
  });
});

it('reads an older version of ServiceCIDRs, and does without any', async (t) => {
  const path = '/apis/networking.k8s.io/v1beta1/servicecidrs';
  const older = await clientOf(t, { [path]: { items: [{ spec: { cidrs: ['10.0.0.0/16'] } }] } });
  assert.deepEqual((await readClusterFacts(older)).serviceRanges, ['10.0.0.0/16']);
  const none = await readClusterFacts(await clientOf(t, {}));
  assert.deepEqual(none, {
    serviceRanges: [],
    podRanges: [],
    nodeCount: 0,
    nodeAddresses: new Map(),
    dns: undefined,
  });
});

it('names namespaces that do not exist, each once', async (t) => {
  const client = await clientOf(t, { '/api/v1/namespaces/shop': { kind: 'Namespace' } });
  assert.deepEqual(await missingNamespaces(client, ['shop', 'nope', 'nope']), ['nope']);
});
