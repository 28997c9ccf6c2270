import { type ActedSabotage, FOREIGN_TABLE, nft, onEveryNode, type Scene } from './sabotage.ts';

/** Faults that need no knowledge of how a proxy forwards. */
export const anyProxySabotages: readonly ActedSabotage[] = [
  {
    name: 'freeze-before-change',
    title: 'the proxy of node1 is stopped (SIGSTOP) before an endpoint becomes unready',
    scenario: 'cluster-ip/follows-readiness',
    act: async ({ proxies }) => proxies.get('node1')?.freeze(),
  },
  {
    name: 'kill-before-change',
    title: 'the proxy of node2 is ended before an endpoint becomes unready',
    scenario: 'cluster-ip/follows-readiness',
    act: async ({ proxies }) => await proxies.get('node2')?.stop(),
  },
  {
    name: 'lose-one-in-twenty',
    title: 'one of twenty new connections that the nodes forward is dropped',
    scenario: 'cluster-ip/tcp-from-pods',
    // By its port: of a connection that is lost the repeated SYN is lost too.
    act: plantChain(`
      type filter hook forward priority 10; policy accept;
      ct state new jhash tcp sport mod 20 0 drop
    `),
  },
  {
    name: 'masquerade-everything',
    title: 'another program masquerades what pods send to pods',
    scenario: 'cluster-ip/tcp-from-pods',
    act: plantChain(`
      type nat hook postrouting priority 90; policy accept;
      ct status dnat masquerade
    `),
  },
  {
    name: 'reject-turned-silent',
    title: 'the rejections of the nodes are dropped',
    scenario: 'cluster-ip/follows-readiness',
    act: plantChain(`
      type filter hook output priority 10; policy accept;
      icmp type destination-unreachable drop
      icmpv6 type destination-unreachable drop
      tcp flags rst drop
    `),
  },
];

/** A chain in another table, on every node. */
function plantChain(rules: string): (scene: Scene) => Promise<void> {
  const table = `table ${FOREIGN_TABLE} {\n chain planted {\n ${rules}\n }\n}`;
  return (scene) => onEveryNode(scene, (node) => nft(scene, node, table));
}
