import { enterNamespace } from '../../host/namespaces.ts';
import { run } from '../../host/run.ts';
import { macOf, permanentNeighbours } from '../neighbours.ts';
import { FAMILIES, nodeAddress, podCidr, tunnelAddress } from '../plan.ts';
import type { NetworkVariant, PreparedNode } from './contract.ts';

const DEVICE = 'flannel.1';
/** Ethernet less the headers of Ethernet, IPv4, UDP and VXLAN. */
const MTU = 1450;
const PORT = 8472;
/** The kernel's default is a separate range too; no other program sends from this one. */
const SOURCE_PORTS = { from: 50_000, to: 50_100 };

/**
 * As flannel does it: one device on each node, whose address is the first of the node's pod network,
 * and permanent entries instead of learning. It carries both families over IPv4.
 */
export const vxlan: NetworkVariant = {
  name: 'vxlan',
  description: `pods of other nodes behind VXLAN, MTU ${MTU}`,
  podMtu: MTU,
  nodeLines: (index, others) => [
    `link add ${DEVICE} type vxlan id 1 local ${nodeAddress(index).ipv4} dev eth0 dstport ${PORT} srcport ${SOURCE_PORTS.from} ${SOURCE_PORTS.to} nolearning udpcsum`,
    `link set ${DEVICE} address ${macOf(tunnelAddress(index))} mtu ${MTU} up`,
    `addr add ${tunnelAddress(index).ipv4}/32 dev ${DEVICE}`,
    `addr add ${tunnelAddress(index).ipv6}/128 dev ${DEVICE} nodad`,
    ...permanentNeighbours(
      DEVICE,
      others.map((other) => ({ address: tunnelAddress(other), mac: macOf(tunnelAddress(other)) })),
    ),
    ...others.flatMap((other) =>
      FAMILIES.map(
        (family) =>
          `route add ${podCidr(other)[family]} via ${tunnelAddress(other)[family]} dev ${DEVICE} onlink`,
      ),
    ),
  ],
  prepareNode: async (node) => {
    await knowPeers(node);
    await run(enterNamespace(node.path, ['nft', '-f', '-']), { input: outerPacketRules() });
  },
};

async function knowPeers({ path, others }: PreparedNode): Promise<void> {
  for (const other of others) {
    const entry = [macOf(tunnelAddress(other)), 'dev', DEVICE, 'dst', nodeAddress(other).ipv4];
    await run(enterNamespace(path, ['bridge', 'fdb', 'append', ...entry]));
  }
}

/**
 * A mark for masquerading that stays on a packet when it is encapsulated would get the outer packet
 * masqueraded as well, with another source port. Some kernels then sent a wrong checksum, and some
 * networks hold flows apart by that port. Here such packets are dropped, so that it shows.
 */
function outerPacketRules(): string {
  return `table inet lab-vxlan {
  chain outer-packets {
    type filter hook prerouting priority raw; policy accept;
    udp dport ${PORT} udp sport != ${SOURCE_PORTS.from}-${SOURCE_PORTS.to} counter drop
  }
}
`;
}
