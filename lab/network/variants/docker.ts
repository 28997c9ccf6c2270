import { enterNamespace } from '../../host/namespaces.ts';
import { run } from '../../host/run.ts';
import { CLUSTER_CIDR, type Family } from '../plan.ts';
import type { NetworkVariant, PreparedNode } from './contract.ts';
import { routesToPods } from './plain.ts';

const PROGRAM: Readonly<Record<Family, string>> = {
  ipv4: 'iptables-restore',
  ipv6: 'ip6tables-restore',
};

/** A node with Docker, which drops what it does not know, and flannel, which accepts pods. */
export const docker: NetworkVariant = {
  name: 'docker',
  description: "iptables FORWARD policy DROP as Docker sets it, with flannel's accepts for pods",
  dropsTransit: true,
  nodeLines: (_index, others) => routesToPods(others),
  prepareNode: async (node) => {
    await restore(node, 'ipv4');
    await restore(node, 'ipv6');
  },
};

async function restore(node: PreparedNode, family: Family): Promise<void> {
  const argv = [node.iptables, PROGRAM[family], '--noflush', '--wait', '10'] as const;
  await run(enterNamespace(node.path, argv), { input: rules(family) });
}

/** What `iptables-save` shows with Docker 28 and one network of it, and with flannel. */
function rules(family: Family): string {
  const pods = CLUSTER_CIDR[family];
  return `*filter
:FORWARD DROP
:DOCKER - [0:0]
:DOCKER-BRIDGE - [0:0]
:DOCKER-CT - [0:0]
:DOCKER-FORWARD - [0:0]
:DOCKER-ISOLATION-STAGE-1 - [0:0]
:DOCKER-ISOLATION-STAGE-2 - [0:0]
:DOCKER-USER - [0:0]
:FLANNEL-FWD - [0:0]
-A FORWARD -j DOCKER-USER
-A FORWARD -j DOCKER-FORWARD
-A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD
-A DOCKER ! -i docker0 -o docker0 -j DROP
-A DOCKER-BRIDGE -o docker0 -j DOCKER
-A DOCKER-CT -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A DOCKER-FORWARD -j DOCKER-CT
-A DOCKER-FORWARD -j DOCKER-ISOLATION-STAGE-1
-A DOCKER-FORWARD -j DOCKER-BRIDGE
-A DOCKER-FORWARD -i docker0 -j ACCEPT
-A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2
-A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP
-A FLANNEL-FWD -s ${pods} -m comment --comment "flanneld forward" -j ACCEPT
-A FLANNEL-FWD -d ${pods} -m comment --comment "flanneld forward" -j ACCEPT
COMMIT
`;
}
