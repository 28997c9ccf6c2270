import { closeSync } from 'node:fs';
import { openBoundSocket, writeSysctls } from '../../../../lab/host/libc.ts';
import { bindUdp, dialTcp } from '../../../../lab/host/sockets.ts';
import type { Pod } from '../../../../lab/kubelet/pods.ts';
import type { Incident } from '../incident.ts';
import type { IncidentScene } from '../scene.ts';
import { FROM_CART } from '../shop.ts';
import { addPod, addService, sliceOf } from '../shop-objects.ts';

/** Of the network of node2; no machine has it. */
const NOBODY = '10.130.0.250';
const PASSES_OVER = 'its forwarder passes over an endpoint that does not answer';
const SERVFAIL = 2;
const RESPONSE = 0x8000;

/** Services whose endpoints, or some of them, do not answer. */
export const BAD_ENDPOINT_INCIDENTS: readonly Incident[] = [
  {
    name: 'targetPort that nothing listens on',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'deaf',
        spec: {
          clusterIP: '10.96.52.1',
          selector: { app: 'web' },
          ports: [{ name: 'http', port: 80, targetPort: 9999 }],
        },
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '10.96.52.1:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/deaf ${FROM_CART}`,
      code: 'ENDPOINT_REFUSES',
      exit: 4,
      says: /10\.1(29|30)\.0\.\d+:9999/,
      cause: /9999.*(refuse|nothing listens)|nothing listens at .*9999/,
      next: { names: /targetPort/ },
    },
  },
  {
    name: 'one endpoint of two is silent',
    produce: async (scene, undo) => {
      await addPod(scene, undo, { name: 'web-good', node: 1, labels: { app: 'half' } });
      const fault = 'unreachable';
      await addPod(scene, undo, { name: 'web-bad', node: 2, labels: { app: 'half' }, fault });
      await addService(scene, undo, {
        name: 'half',
        spec: { clusterIP: '10.96.52.2', selector: { app: 'half' } },
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '10.96.52.2:80', times: 20 },
    gets: ['answered', 'timed out'],
    explain: {
      typed: `explain shop/half ${FROM_CART} --each`,
      code: 'SOME_ENDPOINTS_FAIL',
      exit: 4,
      says: /1 of 2 endpoints .*10\.130\.0\.\d+:8080 \(ENDPOINT_SILENT\)/,
      // The rule is in the network of a pod of another node.
      saysNot: /rule/,
      cause: /10\.130\.0\.\d+:8080.*(silent|no answer|does not answer|timed out)/,
      next: { names: /node2/ },
    },
    notIn: { userspace: PASSES_OVER },
  },
  {
    name: 'one endpoint of two refuses',
    produce: async (scene, undo) => {
      await addPod(scene, undo, { name: 'web-open', node: 1, labels: { app: 'ajar' } });
      const fault = 'closed';
      await addPod(scene, undo, { name: 'web-closed', node: 2, labels: { app: 'ajar' }, fault });
      await addService(scene, undo, {
        name: 'ajar',
        spec: { clusterIP: '10.96.52.3', selector: { app: 'ajar' } },
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '10.96.52.3:80', times: 20 },
    gets: ['answered', 'refused'],
    explain: {
      typed: `explain shop/ajar ${FROM_CART} --each`,
      code: 'SOME_ENDPOINTS_FAIL',
      exit: 4,
      says: /1 of 2 endpoints .*10\.130\.0\.\d+:8080 \(ENDPOINT_REFUSES\)/,
      cause: /10\.130\.0\.\d+:8080.*(refuse|nothing listens)/,
      next: { names: /targetPort|listens|kubectl/ },
    },
    notIn: { userspace: PASSES_OVER },
  },
  {
    name: 'UDP endpoint that does not exist',
    produce: async (scene, undo) => {
      const port = { protocol: 'UDP' };
      await addService(scene, undo, {
        name: 'ghost',
        spec: { clusterIP: '10.96.52.4', ports: [{ name: 'http', port: 80, ...port }] },
        slices: [sliceOf('ghost', [{ address: NOBODY }], port)],
        endpoints: 1,
      });
    },
    client: { from: 'cart', to: '10.96.52.4:80/udp' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/ghost ${FROM_CART} --probe connect`,
      code: 'NO_ANSWER',
      exit: 3,
      says: /answer/,
      cause: /10\.130\.0\.250/,
      next: { names: /node2|10\.130\.0\.250/ },
    },
  },
  {
    name: 'TCP endpoint that does not exist',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'gone',
        spec: { clusterIP: '10.96.52.5' },
        slices: [sliceOf('gone', [{ address: NOBODY }])],
        endpoints: 1,
      });
    },
    client: { from: 'cart', to: '10.96.52.5:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/gone ${FROM_CART}`,
      code: 'ENDPOINT_SILENT',
      exit: 4,
      says: /10\.130\.0\.250/,
      cause: /10\.130\.0\.250/,
      next: { names: /node2|10\.130\.0\.250/ },
    },
    notIn: { userspace: 'its forwarder resets the client, after its deadline' },
  },
  {
    name: "endpoint's accept queue is full",
    produce: async (scene, undo) => {
      const pod = await addPod(scene, undo, {
        name: 'web-busy',
        node: 1,
        labels: { app: 'busy' },
        ports: [],
      });
      fillAcceptQueue(scene, undo, pod);
      await addService(scene, undo, {
        name: 'busy',
        spec: { clusterIP: '10.96.52.6', selector: { app: 'busy' } },
        endpoints: 1,
      });
    },
    client: { from: 'cart', to: '10.96.52.6:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/busy ${FROM_CART}`,
      // The kernel gives no reason for such a drop: what the first line can say is where it ended.
      code: 'ENDPOINT_OVERLOADED',
      exit: 4,
      says: /10\.129\.0\.\d+:8080/,
      cause: /accept queue|backlog|ListenOverflows/,
      next: { names: /backlog|somaxconn|accept|ss -/ },
    },
    notIn: { userspace: 'its forwarder resets the client, after its deadline' },
  },
  {
    name: 'interface of a pod is down',
    produce: async (scene, undo) => {
      const pod = await addPod(scene, undo, { name: 'web-mute', node: 1, labels: { app: 'mute' } });
      await addService(scene, undo, {
        name: 'mute',
        spec: { clusterIP: '10.96.52.7', selector: { app: 'mute' } },
        endpoints: 1,
      });
      await scene.on('node1', 'nsenter', `--net=${pod.namespacePath}`, ...DOWN);
    },
    client: { from: 'cart', to: '10.96.52.7:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/mute ${FROM_CART}`,
      code: 'DROPPED_BY_KERNEL',
      exit: 4,
      says: /pod\d+/,
      cause: /pod\d+.{0,40}\b(down|no carrier)|\b(down|no carrier).{0,40}pod\d+/,
      next: { names: /pod\d+|ip link|doctor/ },
    },
    doctor: { code: 'ENDPOINT_LINK_DOWN', tells: /pod\d+/ },
    notIn: { userspace: 'its forwarder resets the client, after its deadline' },
  },
  {
    name: 'DNS server that answers SERVFAIL',
    produce: async (scene, undo) => {
      const labels = { app: 'names' };
      const pod = await addPod(scene, undo, { name: 'names-0', node: 2, labels, ports: [] });
      const server = await bindUdp({ namespace: pod.namespacePath, port: 5353 });
      undo.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
      server.on('message', (query, peer) => {
        const answer = Buffer.from(query);
        if (answer.length >= 4) answer.writeUInt16BE(RESPONSE | SERVFAIL, 2);
        server.send(answer, peer.port, peer.address);
      });
      await addService(scene, undo, {
        name: 'names',
        spec: {
          clusterIP: '10.96.52.8',
          selector: { app: 'names' },
          ports: [{ name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' }],
        },
        endpoints: 1,
      });
    },
    client: { from: 'cart', to: '10.96.52.8:53/udp', asksName: true },
    gets: ['answered'],
    explain: {
      typed: `explain shop/names ${FROM_CART}`,
      // The datagram is dropped behind the rules: what the server says is not for a node to know.
      code: 'WOULD_REACH',
      exit: 5,
      says: /would reach/,
      cause: /not (asked|proven|answered|sent)|dropped before|no answer/,
    },
  },
  {
    name: 'nothing is wrong with one endpoint',
    produce: async () => undefined,
    client: { from: 'cart', to: '10.130.0.2:8080' },
    gets: ['answered'],
    explain: {
      typed: `explain 10.130.0.2:8080 ${FROM_CART}`,
      code: 'REACHES',
      exit: 0,
      says: /web-2|endpoint/,
      cause: /shop\/web/,
    },
  },
];

const DOWN = ['ip', 'link', 'set', 'eth0', 'down'] as const;

/** A listener that accepts nothing, with as many connections as wait at it. */
function fillAcceptQueue(scene: IncidentScene, undo: AsyncDisposableStack, pod: Pod): void {
  const { namespacePath: namespace } = pod;
  writeSysctls(namespace, { 'net/core/somaxconn': '1' });
  const listener = openBoundSocket({ namespace, port: 8080, kind: 'tcp' });
  undo.defer(() => closeSync(listener));
  const to = { address: pod.address.ipv4, port: 8080 };
  for (let place = 0; place < 3; place++) {
    const socket = dialTcp({ namespace: scene.cart.namespacePath }, to);
    // It waits for as long as the incident lasts, and may time out meanwhile.
    socket.on('error', () => socket.destroy());
    undo.defer(() => {
      socket.destroy();
    });
  }
}
