import type { IptablesProgram } from '../host/iptables-program.ts';
import {
  enterNamespace,
  ipBatch,
  namespaceName,
  namespacePath,
  setSysctls,
} from '../host/namespaces.ts';
import { run } from '../host/run.ts';
import { captureRuleset } from './capture.ts';
import { macOf, type Neighbour, permanentNeighbours } from './neighbours.ts';
import {
  type AddressPair,
  CLUSTER_CIDR,
  FABRIC,
  FAMILIES,
  LAN_PREFIX,
  nodeAddress,
  nodeName,
  type Outsider,
  outsiderAddress,
  podCidr,
  podGateway,
} from './plan.ts';
import { routesVia } from './routes.ts';

import type { NetworkVariant } from './variants/contract.ts';

export type PodNetwork = 'routed' | 'bridge';

export interface TopologyOptions {
  readonly lab: string;
  readonly nodeCount: number;
  readonly podNetwork: PodNetwork;
  readonly network: NetworkVariant;
  /** The backend of iptables that nodes use, for a network with rules of its own. */
  readonly iptables: IptablesProgram;
}

const OUTSIDERS: readonly Outsider[] = ['client', 'machine'];
export const POD_BRIDGE = 'cni0';

/**
 * Builds the hosts of a lab:
 *
 *      client ──┐
 *     machine ──┤ br0 in fabric (172.30.0.1, also runs the control plane)
 *       node1 ──┤    default route of every host; what arrives here to be routed on has
 *       node2 ──┘    left its node untranslated: it is recorded, then dropped in silence
 */
export async function buildTopology(options: TopologyOptions): Promise<void> {
  const roles = ['fabric', ...nodeIndexes(options).map(nodeName), ...OUTSIDERS];
  await ipBatch(roles.map((role) => `netns add ${namespaceName({ lab: options.lab, role })}`));
  await Promise.all(roles.map((role) => prepareHost(namespacePath({ lab: options.lab, role }))));
  await buildFabric(options);
  await Promise.all([
    ...nodeIndexes(options).map((index) => buildNode(options, index)),
    ...OUTSIDERS.map((outsider) => buildOutsider(options, outsider)),
  ]);
}

export function nodeIndexes(options: { readonly nodeCount: number }): number[] {
  return Array.from({ length: options.nodeCount }, (_, i) => i + 1);
}

async function prepareHost(path: string): Promise<void> {
  await setSysctls(path, [
    // Duplicate address detection would delay every IPv6 address by a second.
    'net.ipv6.conf.all.accept_dad=0',
    'net.ipv6.conf.default.accept_dad=0',
    'net.ipv4.conf.all.rp_filter=0',
    'net.ipv4.conf.default.rp_filter=0',
    // A node that forwards a packet back out of its ingress interface would send an ICMP redirect.
    'net.ipv4.conf.all.send_redirects=0',
    'net.ipv4.conf.default.send_redirects=0',
    'net.ipv4.conf.all.accept_redirects=0',
    'net.ipv4.conf.default.accept_redirects=0',
    'net.ipv6.conf.all.accept_redirects=0',
    'net.ipv6.conf.default.accept_redirects=0',
    // Refusals are counted and timed: the kernel must not ration them.
    'net.ipv4.icmp_ratelimit=0',
    'net.ipv6.icmp.ratelimit=0',
    // Nor all of them together: 50 in one moment are less than a dozen scenarios side by side cause.
    'net.ipv4.icmp_msgs_per_sec=100000',
    'net.ipv4.icmp_msgs_burst=10000',
    'net.ipv4.ip_forward=1',
    'net.ipv6.conf.all.forwarding=1',
  ]);
}

async function buildFabric(options: TopologyOptions): Promise<void> {
  const { lab } = options;
  const hosts = [...nodeIndexes(options).map(nodeName), ...OUTSIDERS];
  await ipBatch(
    [
      'link set lo up',
      'link add br0 type bridge',
      `link set br0 address ${macOf(FABRIC)} up`,
      ...lanAddress('br0', FABRIC),
      ...permanentNeighbours('br0', neighboursOf(options, 'fabric')),
      ...hosts.flatMap((host) => [
        `link add ${host} type veth peer name eth0 netns ${namespaceName({ lab, role: host })}`,
        `link set ${host} master br0 up`,
      ]),
      ...(options.network.fabricLines?.(
        nodeIndexes(options).map((index) => ({
          index,
          namespace: namespaceName({ lab, role: nodeName(index) }),
        })),
      ) ?? []),
      // Silence, not "unreachable": a drop on a node must look like a drop, and so must a leak.
      'route add blackhole default',
      'route add blackhole ::/0',
    ],
    namespaceName({ lab, role: 'fabric' }),
  );
  const path = namespacePath({ lab, role: 'fabric' });
  await run(enterNamespace(path, ['nft', '-f', '-']), { input: captureRuleset() });
  // Frames between two hosts of the LAN are the switch's business, not the router's.
  await setSysctls(path, [
    'net.bridge.bridge-nf-call-iptables=0',
    'net.bridge.bridge-nf-call-ip6tables=0',
  ]);
}

async function buildNode(options: TopologyOptions, index: number): Promise<void> {
  const others = nodeIndexes(options).filter((other) => other !== index);
  await ipBatch(
    [
      'link set lo up',
      `link set eth0 address ${macOf(nodeAddress(index))} up`,
      ...lanAddress('eth0', nodeAddress(index)),
      ...permanentNeighbours('eth0', neighboursOf(options, nodeName(index))),
      ...defaultVia(FABRIC),
      ...options.network.nodeLines(index, others),
      ...(options.podNetwork === 'bridge' ? podBridge(index) : []),
    ],
    namespaceName({ lab: options.lab, role: nodeName(index) }),
  );
  const path = namespacePath({ lab: options.lab, role: nodeName(index) });
  const { nodeSysctls = [], prepareNode } = options.network;
  const bridge = options.podNetwork === 'bridge' ? FILTER_BRIDGED : [];
  if (nodeSysctls.length + bridge.length > 0) await setSysctls(path, [...nodeSysctls, ...bridge]);
  await prepareNode?.({ index, others, path, iptables: options.iptables });
}

const FILTER_BRIDGED = [
  'net.bridge.bridge-nf-call-iptables=1',
  'net.bridge.bridge-nf-call-ip6tables=1',
];

function podBridge(index: number): string[] {
  const gateway = podGateway(index);
  return [
    `link add ${POD_BRIDGE} type bridge`,
    `link set ${POD_BRIDGE} address ${macOf(gateway)} up`,
    `addr add ${gateway.ipv4}/16 dev ${POD_BRIDGE}`,
    `addr add ${gateway.ipv6}/64 dev ${POD_BRIDGE} nodad`,
  ];
}

/**
 * An outsider chooses the node it goes through by the source address it uses: table N sends
 * everything through nodeN. The client knows no way to pods; the machine has a route to each.
 */
async function buildOutsider(options: TopologyOptions, outsider: Outsider): Promise<void> {
  const lines = [
    'link set lo up',
    `link set eth0 address ${macOf(outsiderAddress(outsider))} up`,
    ...lanAddress('eth0', outsiderAddress(outsider)),
    ...permanentNeighbours('eth0', neighboursOf(options, outsider)),
    ...defaultVia(FABRIC),
    ...podRoutes(options, { outsider, table: 'main' }),
  ];
  for (const index of nodeIndexes(options)) {
    const source = outsiderAddress(outsider, index);
    const table = `${1000 + index}`;
    lines.push(
      ...lanAddress('eth0', source),
      `rule add from ${source.ipv4} lookup ${table}`,
      `route add 172.30.0.0/${LAN_PREFIX.ipv4} dev eth0 table ${table}`,
      `route add fd00:30::/${LAN_PREFIX.ipv6} dev eth0 table ${table}`,
      ...defaultVia(nodeAddress(index)).map((line) => `${line} table ${table}`),
      ...podRoutes(options, { outsider, table }),
    );
  }
  const namespace = namespaceName({ lab: options.lab, role: outsider });
  await ipBatch(lines, namespace);
  const rules = nodeIndexes(options).map(
    (index) => `rule add from ${outsiderAddress(outsider, index).ipv6} lookup ${1000 + index}`,
  );
  await ipBatch(rules, namespace, 6);
}

/** Every address of the LAN that is not the host's own. */
function neighboursOf(options: TopologyOptions, host: string): Neighbour[] {
  const indexes = nodeIndexes(options);
  const hosts = [
    { name: 'fabric', addresses: [FABRIC] },
    ...indexes.map((index) => ({ name: nodeName(index), addresses: [nodeAddress(index)] })),
    ...OUTSIDERS.map((outsider) => ({
      name: outsider,
      addresses: [undefined, ...indexes].map((index) => outsiderAddress(outsider, index)),
    })),
  ];
  return hosts
    .filter(({ name }) => name !== host)
    .flatMap(({ addresses: [first, ...others] }) =>
      first ? [first, ...others].map((address) => ({ address, mac: macOf(first) })) : [],
    );
}

function podRoutes(
  options: TopologyOptions,
  where: { outsider: Outsider; table: string },
): string[] {
  if (where.outsider === 'client') {
    return [
      `route add blackhole ${CLUSTER_CIDR.ipv4} table ${where.table}`,
      `route add blackhole ${CLUSTER_CIDR.ipv6} table ${where.table}`,
    ];
  }
  return nodeIndexes(options).flatMap((index) =>
    routesVia(podCidr(index), nodeAddress(index)).map((line) => `${line} table ${where.table}`),
  );
}

function lanAddress(device: string, address: AddressPair): string[] {
  return FAMILIES.map((family) => {
    const nodad = family === 'ipv6' ? ' nodad' : '';
    return `addr add ${address[family]}/${LAN_PREFIX[family]} dev ${device}${nodad}`;
  });
}

function defaultVia(gateway: AddressPair): string[] {
  return [`route add default via ${gateway.ipv4}`, `route add default via ${gateway.ipv6}`];
}
