import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findBasis } from '../../../src/commands/basis/basis.ts';
import { answerOf } from '../../../src/commands/basis/basis-answer.ts';
import type { DataPlane } from '../../../src/dataplanes/contract.ts';
import { type Forwarding, servicePortKey } from '../../../src/forwarding/model.ts';
import { SERVED_PORT } from '../../../src/linux/testing/hosts/host.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { modeNamed } from '../../../src/modes/mode-registry.ts';
import {
  NODE_IPV4,
  type NodeNetwork,
  nodeNetwork,
} from '../../../src/wings/ebpf/plane/testing/node-network.ts';
import { askCommand, serveCase } from './run-commands.ts';
import { NOTHING, type RowData, type Told, toldByServices } from './told.ts';

const NODE = 'node1';
const TIMES = 6;
const TIMEOUT_MS = 700;
const REFUSED = 'ECONNREFUSED';

/** Services by policy and by where their endpoints are: each has every kind of address. */
function objectsOf(network: NodeNetwork): object[] {
  const [e1, e2, e3] = network.endpoints.map(({ ipv4 }) => ipv4);
  const places = {
    none: [],
    here: [
      [e1, NODE],
      [e3, 'far'],
    ],
    far: [
      [e2, 'far'],
      [e3, 'far'],
    ],
  };
  const policies = ['Cluster', 'Local'].flatMap((external) =>
    ['Cluster', 'Local'].map((internal) => ({ external, internal })),
  );
  const wanted = policies.flatMap((policy) =>
    Object.entries(places).map(([place, endpoints]) => ({ ...policy, place, endpoints })),
  );
  const services = wanted.flatMap(({ external, internal, place, endpoints }, index) => {
    const name = `${external}-${internal}-${place}`.toLowerCase();
    const metadata = { namespace: 'ns', name };
    return [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: {
          type: 'NodePort',
          clusterIPs: [`10.96.0.${index + 1}`],
          ipFamilies: ['IPv4'],
          externalIPs: [`198.18.0.${index + 1}`],
          externalTrafficPolicy: external,
          internalTrafficPolicy: internal,
          ports: [{ port: 80, nodePort: 30_000 + index }],
        },
      },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        ports: [{ name: '', port: SERVED_PORT, protocol: 'TCP' }],
        endpoints: endpoints.map(([address, nodeName]) => ({ addresses: [address], nodeName })),
      },
    ];
  });
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE },
    status: { addresses: [{ type: 'InternalIP', address: NODE_IPV4 }] },
  };
  return [...services, node];
}

async function write(plane: DataPlane, runFolder: string): Promise<void> {
  const basis = await findBasis({ flags: new Map(), options: { runFolder } });
  const { facts, rows } = await answerOf(basis);
  const desired: Forwarding[] = rows.map(({ forwarding }) => forwarding);
  await plane.inspect({ facts, rows: desired }, 'everything');
  const changes = desired.map((after) => ({
    key: servicePortKey(after.id),
    id: after.id,
    before: 'unknown' as const,
    after,
  }));
  await plane.apply(changes);
}

/** The outcome of connections, as seen by client and server. */
async function toldByPackets(
  network: NodeNetwork,
  from: PlacedHost,
  at: string,
): Promise<{ told: Told; answeredBy: ReadonlySet<string> }> {
  const nodePort = /^node port (\d+)$/.exec(at)?.[1];
  const [address = '', port] = nodePort === undefined ? at.split(':') : [NODE_IPV4, nodePort];
  const peer = { transport: 'TCP', address, port: Number(port), timeoutMs: TIMEOUT_MS } as const;
  const [first, ...others] = await from.ask({ ...peer, count: 1 });
  if (first?.by === 'TIMEOUT')
    return { told: { ...NOTHING, action: 'drop' }, answeredBy: new Set() };
  if (first?.by === REFUSED)
    return { told: { ...NOTHING, action: 'reject' }, answeredBy: new Set() };
  const more = await from.ask({ ...peer, count: TIMES });
  const answers = [first, ...others, ...more].filter((answer) => answer !== undefined);
  const places = new Map(network.endpoints.map((host) => [host.name, host.ipv4]));
  const answeredBy = new Set(answers.map(({ by }) => `${places.get(by) ?? by}:${SERVED_PORT}`));
  const masquerade = answers.every(({ saw }) => saw !== from.ipv4);
  return { told: { action: 'forward', endpoints: [], masquerade }, answeredBy };
}

async function assertPacketsAgree(network: NodeNetwork, rows: readonly RowData[]): Promise<number> {
  let asked = 0;
  for (const row of rows) {
    for (const frontend of row.frontends) {
      for (const [source, host] of [
        ['pod', network.client],
        ['outside', network.outside],
      ] as const) {
        const said = toldByServices(row, frontend, source);
        const { told, answeredBy } = await toldByPackets(network, host, frontend.at);
        const what = `${row.key} at ${frontend.at} from ${source}`;
        assert.deepEqual(told, { ...said, endpoints: [] }, what);
        for (const by of answeredBy) assert.ok(said.endpoints.includes(by), `${what}: ${by}`);
        asked += 1;
      }
    }
  }
  return asked;
}

describe('packets', () => {
  // In mode iptables kube-proxy's chains answer some otherwise: the conformance suite has those.
  for (const mode of ['nftables'] as const) {
    it(`do what services says of each frontend, in mode ${mode}`, async (t) => {
      const network = await nodeNetwork(`one-truth-${mode}`);
      t.after(() => network.leave());
      const configuration = JSON.stringify({
        apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
        kind: 'KubeProxyConfiguration',
        mode,
        clusterCIDR: '10.244.0.0/16',
      });
      const items = objectsOf(network);
      const manifests = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      await using node = await serveCase({ nodeName: NODE, mode, manifests, configuration });
      const { plane } = (await modeNamed(mode)).open({});
      await write(plane, node.byAgent[1] ?? '');
      t.after(() => plane.remove());
      const asked = await assertPacketsAgree(
        network,
        await askCommand(t, 'services', node.byAgent),
      );
      assert.equal(asked, 12 * 3 * 2);
    });
  }
});
