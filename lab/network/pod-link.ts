import { writeSysctls } from '../host/libc.ts';
import { ipBatch, namespaceName, namespacePath } from '../host/namespaces.ts';
import { macOf, type Neighbour, permanentNeighbours } from './neighbours.ts';
import { type AddressPair, FAMILIES, nodeName, podAddress, podGateway } from './plan.ts';
import { POD_BRIDGE, type PodNetwork } from './topology.ts';
import type { NetworkVariant, PluggedPod } from './variants/contract.ts';

export interface PodLink {
  readonly lab: string;
  readonly nodeIndex: number;
  readonly podNetwork: PodNetwork;
  readonly network: NetworkVariant;
  /** Role of the pod's namespace; unique in the lab. */
  readonly role: string;
  /** Name of the link on the node's side, at most 15 characters; starts with POD_LINK_PREFIX. */
  readonly linkName: string;
  readonly address: AddressPair;
  /** MTU of the node's route to the pod, where it is narrower than the link. */
  readonly pathMtu?: number | undefined;
  /** A network whose every address is the pod's too. */
  readonly block?: AddressPair | undefined;
}

export const POD_LINK_PREFIX = 'pod';

/** Pods on a bridge beyond this many find each other by asking, as long as the machine has places. */
const KNOWN_ON_A_BRIDGE = 64;

/** Each routed pod shares its link with its node alone, so the same two will do for all. */
const NODE_SIDE_MAC = '02:00:00:00:00:01';
const POD_SIDE_MAC = '02:00:00:00:00:02';

/** Refusals are counted and timed: the pod's kernel must not ration them either. */
const UNRATIONED_ERRORS = {
  'net/ipv4/icmp_ratelimit': '0',
  'net/ipv6/icmp/ratelimit': '0',
  'net/ipv4/icmp_msgs_per_sec': '100000',
  'net/ipv4/icmp_msgs_burst': '10000',
};

/** A local route makes an IPv4 address one to send from, but not an IPv6 address. */
const ANY_SOURCE = { 'net/ipv6/ip_nonlocal_bind': '1' };

/** Gives a pod its namespace and plugs it into its node, as a network plugin would. */
export async function plugPod(link: PodLink): Promise<void> {
  const pod = namespaceName({ lab: link.lab, role: link.role });
  const node = namespaceName({ lab: link.lab, role: nodeName(link.nodeIndex) });
  await ipBatch([`netns add ${pod}`]);
  await ipBatch(nodeSide(link, pod), node);
  await ipBatch(podSide(link), pod);
  writeSysctls(namespacePath({ lab: link.lab, role: link.role }), {
    ...UNRATIONED_ERRORS,
    ...(link.block ? ANY_SOURCE : {}),
  });
  await link.network.podPlugged?.(pluggedPod(link));
}

export async function unplugPod(link: PodLink): Promise<void> {
  await link.network.podUnplugged?.(pluggedPod(link));
  await ipBatch([`netns delete ${namespaceName({ lab: link.lab, role: link.role })}`]);
}

function pluggedPod(link: PodLink): PluggedPod {
  return {
    nodePath: namespacePath({ lab: link.lab, role: nodeName(link.nodeIndex) }),
    linkName: link.linkName,
    networks: [link.address, ...(link.block ? [link.block] : [])],
  };
}

function nodeSide(link: PodLink, podNamespace: string): string[] {
  const mtu = link.network.podMtu === undefined ? '' : ` mtu ${link.network.podMtu}`;
  const peer = `type veth peer name eth0${mtu} netns ${podNamespace}`;
  const create = `link add ${link.linkName}${mtu} ${peer}`;
  const gateway = podGateway(link.nodeIndex);
  if (link.podNetwork === 'bridge') {
    return [
      create,
      `link set ${link.linkName} master ${POD_BRIDGE} up`,
      // A frame may go back out of the port it came in by: a pod that reaches itself.
      `link set ${link.linkName} type bridge_slave hairpin on`,
      ...permanentNeighbours(POD_BRIDGE, [{ address: link.address, mac: macOf(link.address) }]),
    ];
  }
  const pathMtu = link.pathMtu === undefined ? '' : ` mtu ${link.pathMtu}`;
  return [
    create,
    `link set ${link.linkName} address ${NODE_SIDE_MAC} up`,
    ...permanentNeighbours(link.linkName, [{ address: link.address, mac: POD_SIDE_MAC }]),
    `addr add ${gateway.ipv4}/32 dev ${link.linkName}`,
    `addr add ${gateway.ipv6}/128 dev ${link.linkName} nodad`,
    `route add ${link.address.ipv4}/32 dev ${link.linkName} src ${gateway.ipv4}${pathMtu}`,
    `route add ${link.address.ipv6}/128 dev ${link.linkName} src ${gateway.ipv6}${pathMtu}`,
    ...FAMILIES.flatMap((family) =>
      link.block
        ? [`route add ${link.block[family]} via ${link.address[family]} dev ${link.linkName}`]
        : [],
    ),
  ];
}

function podSide(link: PodLink): string[] {
  const gateway = podGateway(link.nodeIndex);
  const bridged = link.podNetwork === 'bridge';
  const mac = bridged ? macOf(link.address) : POD_SIDE_MAC;
  const neighbours = bridged ? onTheBridge(link) : [{ address: gateway, mac: NODE_SIDE_MAC }];
  return [
    'link set lo up',
    `link set eth0 address ${mac} up`,
    ...permanentNeighbours('eth0', neighbours),
    `addr add ${link.address.ipv4}/${bridged ? 16 : 32} dev eth0`,
    `addr add ${link.address.ipv6}/${bridged ? 64 : 128} dev eth0 nodad`,
    ...(bridged
      ? []
      : [`route add ${gateway.ipv4} dev eth0`, `route add ${gateway.ipv6} dev eth0`]),
    `route add default via ${gateway.ipv4} dev eth0`,
    `route add default via ${gateway.ipv6} dev eth0`,
    ...FAMILIES.flatMap((family) =>
      link.block ? [`route add local ${link.block[family]} dev lo`] : [],
    ),
  ];
}

/** The gateway and the pods of the same node, existing or not: the MAC follows from the address. */
function onTheBridge({ nodeIndex, address }: PodLink): Neighbour[] {
  return Array.from({ length: KNOWN_ON_A_BRIDGE }, (_, i) => podAddress(nodeIndex, i + 1))
    .filter(({ ipv4 }) => ipv4 !== address.ipv4)
    .map((other) => ({ address: other, mac: macOf(other) }));
}
