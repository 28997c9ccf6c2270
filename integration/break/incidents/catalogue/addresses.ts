import { listenTcp } from '../../../../lab/host/sockets.ts';
import type { Incident } from '../incident.ts';
import { FROM_CART } from '../shop.ts';
import { addPod, addService, sliceOf } from '../shop-objects.ts';

const OUTSIDE = '172.30.2.1';
const EVERY_ADDRESS = 'its node ports answer at every address of a node by default';

/** Addresses of Services that are not served, not for everybody, or not as meant. */
export const ADDRESS_INCIDENTS: readonly Incident[] = [
  {
    name: 'load-balancer address drops, ClusterIP works',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'limited',
        balancer: '198.18.50.2',
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.96.53.1',
          selector: { app: 'web' },
          loadBalancerSourceRanges: ['192.0.2.0/24'],
        },
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '198.18.50.2:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/limited ${FROM_CART} --at 198.18.50.2`,
      code: 'DROPPED_SOURCE_RANGE',
      exit: 3,
      says: /198\.18\.50\.2/,
      cause: /192\.0\.2\.0\/24/,
      next: { names: /loadBalancerSourceRanges/ },
    },
    also: [
      {
        // By its name the Service is its cluster IP for a pod; what does not work is said all the same.
        typed: `explain shop/limited ${FROM_CART}`,
        tells: /^REACHES .*but not\s+at\s+198\.18\.50\.2:80\s+\(DROPPED_SOURCE_RANGE\)/ms,
        exit: 0,
      },
    ],
  },
  {
    name: 'source ranges leave out a client outside',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'ranged',
        balancer: '198.18.50.3',
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.96.53.2',
          selector: { app: 'web' },
          loadBalancerSourceRanges: ['192.0.2.0/24'],
        },
        endpoints: 2,
      });
    },
    client: { from: 'outside', to: '198.18.50.3:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/ranged --from ${OUTSIDE}`,
      code: 'DROPPED_SOURCE_RANGE',
      exit: 3,
      says: /198\.18\.50\.3/,
      cause: /192\.0\.2\.0\/24/,
      next: { names: /loadBalancerSourceRanges/ },
    },
  },
  {
    name: 'externalTrafficPolicy Local, no endpoint here',
    produce: async (scene, undo) => {
      await addPod(scene, undo, { name: 'web-edge', node: 2, labels: { app: 'edge' } });
      await addService(scene, undo, {
        name: 'edge',
        balancer: '198.18.50.4',
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.96.53.3',
          selector: { app: 'edge' },
          externalTrafficPolicy: 'Local',
        },
        endpoints: 1,
      });
    },
    client: { from: 'outside', to: '198.18.50.4:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/edge --from ${OUTSIDE}`,
      code: 'DROPPED_NO_LOCAL_ENDPOINTS',
      exit: 3,
      says: /on this node/,
      cause: /externalTrafficPolicy/,
      next: { names: /externalTrafficPolicy|node2/ },
    },
  },
  {
    name: 'no load-balancer address yet',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'pending',
        spec: { type: 'LoadBalancer', clusterIP: '10.96.53.4', selector: { app: 'web' } },
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '10.96.53.4:80' },
    gets: ['answered'],
    explain: {
      typed: `explain shop/pending ${FROM_CART}`,
      code: 'REACHES',
      exit: 0,
      says: /10\.96\.53\.4/,
      cause: /no (load[- ]balancer )?address|load[- ]balancer.*(no address|yet)/i,
    },
  },
  {
    name: 'wrong zone hint',
    produce: async (scene, undo) => {
      const hint = 'zone-c';
      await addService(scene, undo, {
        name: 'zoned',
        spec: { clusterIP: '10.96.53.5', trafficDistribution: 'PreferSameZone' },
        slices: [
          sliceOf('zoned', [
            { address: '10.129.0.3', node: 1, hint },
            { address: '10.130.0.2', node: 2, hint },
          ]),
        ],
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '10.96.53.5:80' },
    gets: ['answered'],
    explain: {
      typed: `explain shop/zoned ${FROM_CART}`,
      code: 'REACHES',
      exit: 0,
      says: /reaches/,
      cause: /hints?\b.*zone-a|zone-a.*\bhints?\b/,
    },
  },
  {
    name: 'port that is not declared',
    produce: async () => undefined,
    client: { from: 'cart', to: '10.96.50.1:81' },
    gets: ['refused'],
    explain: {
      typed: `explain 10.96.50.1:81 ${FROM_CART}`,
      code: 'PORT_NOT_DECLARED',
      exit: 1,
      says: /not port 81/,
      cause: /shop\/web:http \(10\.96\.50\.1:80\)/,
      next: { names: /one of its ports|declare/ },
    },
    notIn: { iptables: 'as with kube-proxy, it leaves ports that are not declared to the routes' },
  },
  {
    name: 'address that no Service has',
    produce: async () => undefined,
    client: { from: 'cart', to: '10.96.53.250:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain 10.96.53.250:80 ${FROM_CART}`,
      code: 'NO_SUCH_ADDRESS',
      exit: 1,
      says: /no Service has 10\.96\.53\.250/,
      cause: /no Service has/,
      next: { names: /fairlead services/ },
    },
  },
  {
    name: 'node port at an address that serves none',
    produce: async () => undefined,
    client: { from: 'cart', to: '10.129.0.1:30080' },
    gets: ['refused'],
    explain: {
      typed: `explain 10.129.0.1:30080 ${FROM_CART}`,
      code: 'NODE_PORT_NOT_HERE',
      exit: 3,
      says: /10\.129\.0\.1/,
      cause: /172\.30\.1\.1|nodePortAddresses/,
      next: { names: /172\.30\.1\.1|nodePortAddresses/ },
    },
    notIn: { iptables: EVERY_ADDRESS, ipvs: EVERY_ADDRESS },
  },
  {
    name: 'node port that a process holds',
    produce: async (scene, undo) => {
      const place = { namespace: scene.lab.namespacePath('node1'), port: 30_090 };
      const server = await listenTcp(place, (socket) => socket.destroy());
      undo.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
      await addService(scene, undo, {
        name: 'held',
        spec: {
          type: 'NodePort',
          clusterIP: '10.96.53.6',
          selector: { app: 'web' },
          ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30_090 }],
        },
        endpoints: 2,
      });
    },
    client: { from: 'cart', to: '172.30.1.1:30090' },
    gets: ['answered'],
    explain: {
      typed: `explain 172.30.1.1:30090 ${FROM_CART}`,
      code: 'REACHES',
      exit: 0,
      says: /reaches/,
      cause: /listens.*30090|30090.*listens/,
    },
    doctor: { code: 'NODE_PORT_IN_USE', tells: /30090/ },
  },
  {
    name: 'external IP that another Service has',
    produce: async (scene, undo) => {
      const externalIPs = ['198.18.50.9'];
      await addService(scene, undo, {
        name: 'older',
        spec: { clusterIP: '10.96.53.7', selector: { app: 'web' }, externalIPs },
        endpoints: 2,
      });
      await addPod(scene, undo, { name: 'young-1', node: 1, labels: { app: 'young' } });
      await addService(scene, undo, {
        name: 'younger',
        spec: { clusterIP: '10.96.53.8', selector: { app: 'young' }, externalIPs },
        endpoints: 1,
      });
    },
    client: { from: 'outside', to: '198.18.50.9:80', answeredBy: /^young-/ },
    gets: ['answered by another'],
    explain: {
      typed: `explain shop/younger --from ${OUTSIDE}`,
      code: 'NOT_SERVED',
      exit: 3,
      says: /198\.18\.50\.9.*shop\/older|shop\/older.*198\.18\.50\.9/,
      cause: /shop\/older/,
      next: { names: /shop\/older|externalIPs/ },
    },
    doctor: { code: 'ADDRESS_NOT_SERVED' },
    // An outcome beside an address that is not served would be none.
    also: [
      {
        typed: 'services shop/younger',
        tells: /not served/,
        not: /external-ip \d|\b1 ports/,
      },
      { typed: 'status', tells: /198\.18\.50\.9/ },
    ],
  },
];
