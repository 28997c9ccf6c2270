import { ipBatch, namespaceName } from '../host/namespaces.ts';
import { type AddressPair, FAMILIES, nodeName, podGateway } from './plan.ts';
import { POD_BRIDGE, type PodNetwork } from './topology.ts';

export interface PodLink {
  readonly lab: string;
  readonly nodeIndex: number;
  readonly podNetwork: PodNetwork;
  /** Role of the pod's namespace; unique in the lab. */
  readonly role: string;
  /** Name of the link on the node's side, at most 15 characters; starts with POD_LINK_PREFIX. */
  readonly linkName: string;
  readonly address: AddressPair;
}

export const POD_LINK_PREFIX = 'pod';

/** Each routed pod shares its link with its node alone, so the same two will do for all. */
const NODE_SIDE_MAC = '02:00:00:00:00:01';
const POD_SIDE_MAC = '02:00:00:00:00:02';

/** Gives a pod its namespace and plugs it into its node, as a network plugin would. */
export async function plugPod(link: PodLink): Promise<void> {
  const pod = namespaceName({ lab: link.lab, role: link.role });
  const node = namespaceName({ lab: link.lab, role: nodeName(link.nodeIndex) });
  await ipBatch([`netns add ${pod}`]);
  await ipBatch(nodeSide(link, pod), node);
  await ipBatch(podSide(link), pod);
}

export async function unplugPod(link: PodLink): Promise<void> {
  await ipBatch([`netns delete ${namespaceName({ lab: link.lab, role: link.role })}`]);
}

function nodeSide(link: PodLink, podNamespace: string): string[] {
  const create = `link add ${link.linkName} type veth peer name eth0 netns ${podNamespace}`;
  const gateway = podGateway(link.nodeIndex);
  if (link.podNetwork === 'bridge') {
    return [
      create,
      `link set ${link.linkName} master ${POD_BRIDGE} up`,
      // A frame may go back out of the port it came in by: a pod that reaches itself.
      `link set ${link.linkName} type bridge_slave hairpin on`,
    ];
  }
  return [
    create,
    `link set ${link.linkName} address ${NODE_SIDE_MAC} up`,
    ...permanentNeighbours(link.address, { mac: POD_SIDE_MAC, device: link.linkName }),
    `addr add ${gateway.ipv4}/32 dev ${link.linkName}`,
    `addr add ${gateway.ipv6}/128 dev ${link.linkName} nodad`,
    `route add ${link.address.ipv4}/32 dev ${link.linkName} src ${gateway.ipv4}`,
    `route add ${link.address.ipv6}/128 dev ${link.linkName} src ${gateway.ipv6}`,
  ];
}

function podSide(link: PodLink): string[] {
  const gateway = podGateway(link.nodeIndex);
  const bridged = link.podNetwork === 'bridge';
  return [
    'link set lo up',
    ...(bridged
      ? ['link set eth0 up']
      : [
          `link set eth0 address ${POD_SIDE_MAC} up`,
          ...permanentNeighbours(gateway, { mac: NODE_SIDE_MAC, device: 'eth0' }),
        ]),
    `addr add ${link.address.ipv4}/${bridged ? 16 : 32} dev eth0`,
    `addr add ${link.address.ipv6}/${bridged ? 64 : 128} dev eth0 nodad`,
    ...(bridged
      ? []
      : [`route add ${gateway.ipv4} dev eth0`, `route add ${gateway.ipv6} dev eth0`]),
    `route add default via ${gateway.ipv4} dev eth0`,
    `route add default via ${gateway.ipv6} dev eth0`,
  ];
}

/**
 * The kernel's table of neighbours has 1024 places for all namespaces of the machine together,
 * which a few hundred pods fill; then packets are lost. Permanent ones do not count.
 */
function permanentNeighbours(
  of: AddressPair,
  at: { readonly mac: string; readonly device: string },
): string[] {
  return FAMILIES.map(
    (family) => `neigh add ${of[family]} lladdr ${at.mac} dev ${at.device} nud permanent`,
  );
}
