import { FABRIC, nodeAddress } from '../../../../lab/network/plan.ts';
import type { Incident } from '../incident.ts';
import type { IncidentScene } from '../scene.ts';
import { FROM_CART } from '../shop.ts';
import { addPod, addService } from '../shop-objects.ts';

const FAR = 'far';
const TO_NODE2 = '10.130.0.0/16';
const NODE2 = nodeAddress(2).ipv4;
const WRONG_WAY = '203.0.113.9';
/** The table of the machine outside by which packets go through node1. */
const THROUGH_NODE1 = '1001';
const FORWARDS_ITSELF = 'its forwarder connects to the endpoint itself, from the node';

/** What the network of nodes, or between them, does to packets that were translated well. */
export const NETWORK_INCIDENTS: readonly Incident[] = [
  {
    name: 'node does not forward (ip_forward=0)',
    produce: async (scene, undo) => {
      await setSysctl(scene, undo, { key: 'net.ipv4.ip_forward', value: '0', healthy: '1' });
    },
    client: { from: 'cart', to: '10.96.50.1:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/web:http ${FROM_CART}`,
      code: 'NOT_FORWARDED',
      exit: 4,
      says: /net\.ipv4\.ip_forward is 0/,
      cause: /ip_forward/,
      next: { names: /ip_forward/, typed: 'repairs' },
    },
    doctor: { code: 'IP_FORWARD_OFF', tells: /ip_forward/ },
    also: [{ typed: 'status', tells: /ip_forward/ }],
    notIn: { userspace: FORWARDS_ITSELF },
  },
  {
    name: 'asymmetric route (rp_filter)',
    produce: async (scene, undo) => {
      const toCart = await linkTo(scene, scene.cart.address.ipv4);
      await replaceRoute(scene, undo, `203.0.113.0/24 dev ${toCart}`);
      await onClient(scene, undo, `addr add ${WRONG_WAY}/32 dev lo`);
      await onClient(scene, undo, `rule add from ${WRONG_WAY} lookup ${THROUGH_NODE1}`);
      const key = 'net.ipv4.conf.eth0.rp_filter';
      await setSysctl(scene, undo, { key, value: '1', healthy: '0' });
    },
    client: { from: 'outside', to: '172.30.1.1:30080', sourceAddress: WRONG_WAY },
    gets: ['timed out'],
    explain: {
      typed: `explain 172.30.1.1:30080 --from ${WRONG_WAY} --watch 20s`,
      code: 'DROPPED_REVERSE_PATH',
      exit: 4,
      says: /reverse path filter of eth0/,
      cause: /rp_filter/,
      next: { names: /net\.ipv4\.conf\.eth0\.rp_filter/ },
      whileAsking: true,
    },
    doctor: { code: 'RP_FILTER_DROPS', tells: /eth0/ },
  },
  {
    name: 'route to the node of an endpoint is unreachable',
    produce: async (scene, undo) => {
      await addFar(scene, undo);
      await replaceRoute(scene, undo, `unreachable ${TO_NODE2}`);
    },
    client: { from: 'cart', to: '10.96.54.1:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/far ${FROM_CART}`,
      code: 'NO_ROUTE',
      exit: 4,
      says: /no route to 10\.130\.0\.\d+/,
      cause: /no route/,
      next: { names: /ip route get 10\.130\.0\.\d+/, typed: 'shows' },
    },
    doctor: { code: 'ENDPOINT_NO_ROUTE', tells: /10\.130\.0\.\d+/ },
  },
  {
    name: 'route to the node of an endpoint is missing',
    produce: async (scene, undo) => {
      await addFar(scene, undo);
      await scene.on('node1', 'ip', 'route', 'del', TO_NODE2, 'via', NODE2);
      undo.defer(async () => {
        await scene.on('node1', 'ip', 'route', 'replace', TO_NODE2, 'via', NODE2);
      });
    },
    client: { from: 'cart', to: '10.96.54.1:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/far ${FROM_CART}`,
      code: 'ENDPOINT_SILENT',
      exit: 4,
      says: /10\.130\.0\.\d+/,
      // The fabric drops it, whose network this node cannot see.
      saysNot: /rule|br0/,
      cause: new RegExp(`default route|via ${FABRIC.ipv4}`),
      next: { names: /ip route get|node2/, typed: 'shows' },
    },
    notIn: { userspace: 'its forwarder resets the client, after its deadline' },
  },
  {
    name: 'path MTU black hole between the nodes',
    produce: async (scene, undo) => {
      await addFar(scene, undo);
      await plantTable(scene, undo, {
        role: 'fabric',
        table: 'bridge hole',
        chain: 'type filter hook forward priority 0; ip length > 1300 drop',
      });
    },
    client: { from: 'cart', to: '10.96.54.1:80', bytes: 4_000 },
    gets: ['accepted, then silent'],
    explain: {
      typed: `explain shop/far ${FROM_CART} --size 1500`,
      code: 'LARGE_PACKETS_LOST',
      exit: 4,
      says: /do not arrive there: the path carries less/,
      cause: /carries less/,
      next: { names: /MTU|mtu|node2/ },
    },
  },
  {
    name: 'a drop on the other node',
    produce: async (scene, undo) => {
      await addFar(scene, undo);
      await plantTable(scene, undo, {
        role: 'node2',
        table: 'inet firewall',
        chain: 'type filter hook forward priority 0; tcp dport 8080 drop',
      });
    },
    client: { from: 'cart', to: '10.96.54.1:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/far ${FROM_CART}`,
      code: 'ENDPOINT_SILENT',
      exit: 4,
      says: /node2/,
      saysNot: /eth0|rule|firewall/,
      cause: /firewall/,
      next: { names: /node2/, typed: 'shows', on: 'node2' },
    },
    notIn: { userspace: 'its forwarder resets the client, after its deadline' },
  },
  {
    name: 'duplicate pod IP',
    produce: async (scene, undo) => {
      const address = await addFar(scene, undo);
      const labels = { app: 'double' };
      const double = await addPod(scene, undo, { name: 'double', node: 1, labels, ports: [] });
      const link = await linkTo(scene, double.address.ipv4);
      const add = ['ip', 'address', 'add', `${address}/32`, 'dev', 'eth0'] as const;
      await scene.on('node1', 'nsenter', `--net=${double.namespacePath}`, ...add);
      await replaceRoute(scene, undo, `${address}/32 dev ${link}`);
    },
    client: { from: 'cart', to: '10.96.54.1:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/far ${FROM_CART}`,
      code: 'ENDPOINT_REFUSES',
      exit: 4,
      says: /10\.130\.0\.\d+:8080/,
      // An endpoint of node2, behind an interface of a pod of this node.
      cause: /(route|leads|dev|interface) .{0,40}pod\d+/,
      next: { names: /ip route get/, typed: 'shows' },
    },
  },
  {
    name: 'duplicate node IP',
    produce: async (scene, undo) => {
      await addFar(scene, undo);
      await onClient(scene, undo, `addr add ${NODE2}/32 dev eth0`);
      const known = (await scene.on('node1', 'ip', 'neigh', 'show', NODE2)).split(' ');
      const wrong = await macOf(scene, 'client');
      await tellNeighbour(scene, wrong);
      undo.defer(() => tellNeighbour(scene, known[known.indexOf('lladdr') + 1] ?? ''));
    },
    client: { from: 'cart', to: '10.96.54.1:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/far ${FROM_CART}`,
      code: 'ENDPOINT_SILENT',
      exit: 4,
      says: /node2/,
      saysNot: /eth0|rule/,
      // What lies behind its own interfaces one node cannot know: it says where to go on.
      cause: /left this node|beyond this node|on node2/,
      next: { names: /node2/ },
    },
    notIn: { userspace: 'its forwarder resets the client, after its deadline' },
  },
];

/** A Service with its only endpoint on node2; gives the address of that. */
async function addFar(scene: IncidentScene, undo: AsyncDisposableStack): Promise<string> {
  const pod = await addPod(scene, undo, { name: 'web-far', node: 2, labels: { app: FAR } });
  const spec = { clusterIP: '10.96.54.1', selector: { app: FAR } };
  await addService(scene, undo, { name: FAR, spec, endpoints: 1 });
  return pod.address.ipv4;
}

async function setSysctl(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  {
    key,
    value,
    healthy,
  }: { readonly key: string; readonly value: string; readonly healthy: string },
): Promise<void> {
  undo.defer(async () => {
    await scene.on('node1', 'sysctl', '-qw', `${key}=${healthy}`);
  });
  await scene.on('node1', 'sysctl', '-qw', `${key}=${value}`);
}

/** A route of node1; the one that it replaces comes back. */
async function replaceRoute(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  route: string,
): Promise<void> {
  const prefix = route.split(' ').find((word) => word.includes('/')) ?? '';
  const [before = ''] = (await scene.on('node1', 'ip', 'route', 'show', prefix)).split('\n');
  await scene.on('node1', 'ip', 'route', 'replace', ...route.split(' '));
  undo.defer(async () => {
    await scene.on('node1', 'ip', 'route', 'del', ...route.split(' '));
    const words = before.split(' ').filter((word) => word !== '');
    if (words.length > 0) await scene.on('node1', 'ip', 'route', 'replace', ...words);
  });
}

/** `OBJECT add …` of ip(8) on the machine outside; the same with `del` undoes it. */
async function onClient(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  line: string,
): Promise<void> {
  await scene.on('client', 'ip', ...line.split(' '));
  undo.defer(async () => {
    await scene.on('client', 'ip', ...line.replace(' add ', ' del ').split(' '));
  });
}

async function plantTable(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  { role, table, chain }: { readonly role: string; readonly table: string; readonly chain: string },
): Promise<void> {
  await scene.nft(role, `table ${table} { chain guard { ${chain}; }; }`);
  undo.defer(() => scene.nft(role, `delete table ${table}`));
}

async function linkTo(scene: IncidentScene, address: string): Promise<string> {
  const text = await scene.on('node1', 'ip', 'route', 'get', address);
  return / dev (\S+)/.exec(text)?.[1] ?? '';
}

async function macOf(scene: IncidentScene, role: string): Promise<string> {
  return /link\/ether (\S+)/.exec(await scene.on(role, 'ip', 'link', 'show', 'eth0'))?.[1] ?? '';
}

async function tellNeighbour(scene: IncidentScene, mac: string): Promise<void> {
  const entry = [NODE2, 'lladdr', mac, 'dev', 'eth0', 'nud', 'permanent'] as const;
  await scene.on('node1', 'ip', 'neigh', 'replace', ...entry);
}
