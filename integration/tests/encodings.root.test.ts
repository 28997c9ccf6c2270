import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeObject, paths } from '../../lab/api/objects.ts';
import { letProxyReadNamespaces } from '../../lab/control-plane/rights.ts';
import { dialTcp } from '../../lab/host/sockets.ts';
import { until } from '../../lab/host/until.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { Connection, type ConnectionOptions } from '../../src/cluster/api-connection.ts';
import { ApiSource } from '../../src/cluster/api-source.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig/load-kubeconfig.ts';
import { listAll } from '../../src/cluster/list.ts';
import { Interner } from '../../src/cluster/narrow/interner.ts';
import { narrow } from '../../src/cluster/narrow/narrow.ts';
import type { Kind } from '../../src/cluster/object-kinds.ts';
import {
  NAMESPACES,
  nodeNamed,
  SERVICE_CIDRS,
  SERVICES,
  SLICES,
} from '../../src/cluster/resources.ts';
import { PROTOBUF_ENCODING } from '../../src/cluster/wire/protobuf/protobuf-encoding.ts';

const WAIT_MS = 60_000;
const NODE = 'node1';
const RESOURCES = [SERVICES, SLICES, SERVICE_CIDRS, nodeNamed(NODE), NAMESPACES];

type Known = Record<string, unknown>;

async function connectionOf(lab: Lab, accept?: string): Promise<ConnectionOptions> {
  const access = await loadKubeconfig({ files: [lab.credentials.proxyKubeconfig] });
  const namespace = lab.namespacePath(NODE);
  return {
    access,
    dial: (address, port) => dialTcp({ namespace }, { address, port }),
    ...(accept === undefined ? {} : { accept }),
  };
}

/** Everything that a source delivers, by kind and key. */
async function followed(connection: ConnectionOptions): Promise<Known> {
  const known: Known = {};
  const synced = new Set<Kind>();
  const stop = new AbortController();
  const source = new ApiSource({ connection, nodeName: NODE, watchesNamespaces: true });
  const running = source.run((event) => {
    if (event.type === 'put') known[`${event.kind} ${event.key}`] = event.object;
    if (event.type === 'synced') synced.add(event.kind);
  }, stop.signal);
  await until(() => synced.size === RESOURCES.length, { what: 'all kinds', deadlineMs: WAIT_MS });
  stop.abort();
  await running;
  return known;
}

/** The same by lists, and in which encoding the server answered. */
async function listed(options: ConnectionOptions): Promise<{ known: Known; mediaTypes: string[] }> {
  const connection = new Connection(options);
  const known: Known = {};
  const mediaTypes = new Set<string>();
  const signal = AbortSignal.timeout(WAIT_MS);
  for (const resource of RESOURCES) {
    await listAll({
      getter: {
        async get(path, whileWanted) {
          const answer = await connection.get(path, whileWanted);
          mediaTypes.add(answer.encoding.mediaType);
          return answer;
        },
      },
      resource,
      resourceVersion: '',
      signal,
      silenceMs: WAIT_MS,
      onItem(raw) {
        const item = narrow(resource.kind, raw, new Interner());
        known[`${resource.kind} ${item?.key}`] = item?.object;
      },
      onRestart: () => assert.fail('a list of a few objects has one page'),
    });
  }
  connection.close();
  return { known, mediaTypes: [...mediaTypes] };
}

/** The server makes some objects for itself a moment after its start: they must not come in between. */
async function untilServerHasItsOwn({ api }: Lab): Promise<void> {
  const lists = [
    paths.services('default'),
    paths.slices('default'),
    '/apis/networking.k8s.io/v1/servicecidrs',
  ];
  const hasOwn = async (path: string): Promise<boolean> =>
    (await api.list<KubeObject>(path)).items.some(({ metadata }) => metadata.name === 'kubernetes');
  await until(async () => (await Promise.all(lists.map(hasOwn))).every(Boolean), {
    what: 'the objects of the API server itself',
    deadlineMs: WAIT_MS,
  });
}

/** With every field that is kept of an object, each with a value that is not its default. */
async function createObjects({ api }: Lab): Promise<void> {
  await api.create(paths.services('default'), {
    metadata: {
      name: 'everything',
      labels: { 'fairlead.dev/ebpf': 'off' },
      annotations: { 'fairlead.dev/ipvs-scheduler': 'mh,mh-port' },
    },
    spec: {
      type: 'LoadBalancer',
      ipFamilyPolicy: 'RequireDualStack',
      externalIPs: ['198.18.0.1'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 77 } },
      loadBalancerSourceRanges: ['10.0.0.0/8', '192.0.2.0/24'],
      ports: [
        { name: 'web', port: 80, targetPort: 'named' },
        { name: 'dns', port: 53, protocol: 'UDP', nodePort: 30_153 },
      ],
    },
  });
  const ingress = [
    { ip: '198.18.0.9', ipMode: 'Proxy' },
    { ip: '198.18.0.8', ipMode: 'VIP' },
  ];
  await api.patch(`${paths.service('default', 'everything')}/status`, {
    status: { loadBalancer: { ingress } },
  });
  await api.create(paths.slices('default'), {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'everything-1',
      labels: { 'kubernetes.io/service-name': 'everything' },
      annotations: {
        'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-02T03:04:05.678Z',
      },
    },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        nodeName: NODE,
        conditions: { ready: false, serving: true, terminating: true },
        hints: { forZones: [{ name: 'zone-a' }], forNodes: [{ name: NODE }] },
      },
      { addresses: ['10.0.0.2'], conditions: {} },
    ],
    ports: [
      { name: 'web', port: 8080 },
      { name: 'every', protocol: 'UDP' },
    ],
  });
  const labels = { 'fairlead.dev/ebpf': 'off' };
  await api.create(paths.namespaces, { metadata: { name: 'labelled', labels } });
  await api.patch(`/api/v1/nodes/${NODE}`, {
    metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
    spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] },
  });
}

/** Fields that no object has would be equal in every encoding. */
function assertNothingIsDefault(known: Known): void {
  const service = known['service default/everything'] as Known;
  const slice = known['slice default/everything-1'] as Known;
  const node = known[`node ${NODE}`] as Known;
  const isEmpty = (value: unknown): boolean =>
    value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
  assert.deepEqual(service['labels'], { ebpf: 'off' });
  assert.deepEqual(known['namespace labelled'], { name: 'labelled', ebpf: 'off' });
  for (const [name, value] of [service, slice, node].flatMap((object) => Object.entries(object))) {
    assert.ok(!isEmpty(value), `${name} has no value to compare`);
  }
}

describe('protobuf and JSON', () => {
  it('say the same of a real API server, in lists and in watches', async () => {
    await using lab = await startLab({ nodeCount: 1 });
    await letProxyReadNamespaces(lab.api);
    await createObjects(lab);
    await untilServerHasItsOwn(lab);
    const json = await listed(await connectionOf(lab, 'application/json'));
    assert.deepEqual(json.mediaTypes, ['application/json']);
    assertNothingIsDefault(json.known);
    const protobuf = await listed(await connectionOf(lab));
    assert.deepEqual(protobuf.mediaTypes, [PROTOBUF_ENCODING.mediaType]);
    assert.deepEqual(protobuf.known, json.known);
    assert.deepEqual(await followed(await connectionOf(lab)), json.known);
    assert.deepEqual(await followed(await connectionOf(lab, 'application/json')), json.known);
  });
});
