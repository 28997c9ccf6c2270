import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import { type ActedSabotage, nft, onEveryNode, type Scene } from './sabotage.ts';

const TABLE = 'ip kube-proxy';
const PROXIES = ['upstream-nftables'];

/** Faults in the rules that upstream writes in nftables mode. IPv4 only: one family is enough. */
export const upstreamNftablesSabotages: readonly ActedSabotage[] = [
  {
    name: 'delete-map-element',
    title: 'the element of the ClusterIP is deleted from the dispatch map of node1',
    proxies: PROXIES,
    scenario: 'cluster-ip/tcp-from-pods',
    act: (scene) =>
      nft(scene, 'node1', `delete element ${TABLE} service-ips { ${clusterIpKey(scene)} }`).then(),
  },
  {
    name: 'swap-endpoint',
    title: 'the Service is translated to a pod that it does not select',
    proxies: PROXIES,
    scenario: 'cluster-ip/tcp-from-pods',
    act: (scene) => redirectService(scene, 'far'),
  },
  {
    name: 'lose-endpoint',
    title: 'the Service is translated to one of its two endpoints only',
    proxies: PROXIES,
    scenario: 'cluster-ip/tcp-from-pods',
    act: (scene) => redirectService(scene, 'a'),
  },
  {
    name: 'drop-masquerade',
    title: 'the masquerading chain is emptied',
    proxies: PROXIES,
    scenario: 'cluster-ip/tcp-from-outside',
    act: flush('masquerading'),
  },
  {
    name: 'remove-prerouting-jump',
    title: 'the jump from prerouting to the Services is removed',
    proxies: PROXIES,
    scenario: 'cluster-ip/tcp-from-pods',
    act: flush('nat-prerouting'),
  },
  {
    name: 'remove-output-jump',
    title: 'the jump from output to the Services is removed',
    proxies: PROXIES,
    scenario: 'cluster-ip/tcp-from-nodes',
    act: flush('nat-output'),
  },
  {
    name: 'open-firewall',
    title: 'the load-balancer address is deleted from the source-range map',
    proxies: PROXIES,
    scenario: 'source-ranges/clients',
    act: (scene) =>
      onEveryNode(scene, (node) => {
        const { ipv4 } = scene.world.address('lb');
        const { port } = scene.world.servicePort('web');
        return nft(scene, node, `delete element ${TABLE} firewall-ips { ${ipv4} . tcp . ${port} }`);
      }),
  },
  {
    name: 'forget-hairpin',
    title: 'the set of hairpin connections is emptied',
    proxies: PROXIES,
    scenario: 'hairpin/cluster-ip',
    act: (scene) =>
      onEveryNode(scene, (node) => nft(scene, node, `flush set ${TABLE} hairpin-connections`)),
  },
  {
    name: 'close-node-ports',
    title: 'the set of addresses that accept node ports is emptied',
    proxies: PROXIES,
    scenario: 'node-port/from-outside',
    act: (scene) =>
      onEveryNode(scene, (node) => nft(scene, node, `flush set ${TABLE} nodeport-ips`)),
  },
  {
    name: 'lose-local-drop',
    title: 'the node without a local endpoint does not drop what it may not forward',
    proxies: PROXIES,
    scenario: 'external-policy/node-port-no-local-endpoint',
    act: (scene) =>
      onEveryNode(scene, (node) => nft(scene, node, `flush map ${TABLE} no-endpoint-nodeports`)),
  },
  {
    name: 'leak-undefined-ports',
    title: 'packets to ports that a ClusterIP does not have leave by the default route',
    proxies: PROXIES,
    scenario: 'cluster-ip/undefined-port',
    act: flush('cluster-ips-check'),
  },
  {
    name: 'break-affinity',
    title: 'a Service with affinity is balanced without it',
    proxies: PROXIES,
    scenario: 'affinity/pods-to-cluster-ip',
    act: (scene) => {
      const [first, second] = ['a', 'b'].map((pod) => scene.world.pod(pod).address.ipv4);
      const choice = `numgen random mod 2 map { 0 : ${first} . 8080, 1 : ${second} . 8080 }`;
      return rewriteService(scene, `dnat ip addr . port to ${choice}`);
    },
  },
];

function flush(chain: string): (scene: Scene) => Promise<void> {
  return (scene) => onEveryNode(scene, (node) => nft(scene, node, `flush chain ${TABLE} ${chain}`));
}

function clusterIpKey({ world }: Scene): string {
  const port = world.servicePort('web');
  return `${world.service('web').spec.clusterIP} . ${port.protocol?.toLowerCase()} . ${port.port}`;
}

function redirectService(scene: Scene, pod: string): Promise<void> {
  return rewriteService(scene, `dnat to ${scene.world.pod(pod).address.ipv4}:8080`);
}

/** Gives the Service's own chain one rule, on every node. */
async function rewriteService(scene: Scene, statement: string): Promise<void> {
  await onEveryNode(scene, async (node) => {
    const chain = await findChain(scene, node);
    await nft(
      scene,
      node,
      `flush chain ${TABLE} ${chain}
       add rule ${TABLE} ${chain} meta l4proto tcp ${statement}`,
    );
  });
}

async function findChain({ world }: Scene, node: string): Promise<string> {
  const path = world.lab.namespacePath(node);
  const listing = await run(
    enterNamespace(path, ['nft', '--terse', 'list', 'table', ...TABLE.split(' ')]),
  );
  const chain = listing.match(new RegExp(`chain (service-\\S+-${world.namespace}/web/\\S+)`))?.[1];
  if (chain === undefined) throw new TypeError(`no chain of ${world.namespace}/web on ${node}`);
  return chain;
}
