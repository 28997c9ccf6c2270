import type { Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  differently,
  fromEach,
  IPTABLES,
  on,
  refused,
  silent,
} from '../words.ts';

const EVERYWHERE = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const PODS = ['pod:near', 'pod:far'];
const EVERYBODY = ['pod:near', 'pod:far', 'node1', 'client@node1', 'machine@node2'];

/** Ports and addresses of the service range, where a Service is and where none is. */
export const clusterIpPortScenarios: readonly Scenario[] = [
  {
    name: 'cluster-ip/several-ports',
    title: 'Each port of a Service leads to its own target port',
    // Each pod has only one of the ports, so that a mix-up of the two cannot be missed.
    pods: {
      shop: on(1, { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }),
      admin: on(2, { ports: [{ name: 'admin', port: 9090, protocol: 'TCP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: {
      web: {
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'admin', port: 81, targetPort: 'admin' },
        ],
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(EVERYBODY, { to: clusterIP('web', 'http'), expect: answeredBy('shop') }),
          ...fromEach(EVERYBODY, { to: clusterIP('web', 'admin'), expect: answeredBy('admin') }),
        ],
      },
    ],
  },
  {
    name: 'cluster-ip/tcp-and-udp-on-one-port',
    title: 'TCP and UDP on the same port number are two ports, each with endpoints of its own',
    pods: {
      stream: on(1, { ports: [{ name: 'stream', port: 8080, protocol: 'TCP' }] }),
      packet: on(2, { ports: [{ name: 'packet', port: 8080, protocol: 'UDP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: {
      web: {
        ports: [
          { name: 'stream', port: 53, targetPort: 'stream', protocol: 'TCP' },
          { name: 'packet', port: 53, targetPort: 'packet', protocol: 'UDP' },
        ],
      },
    },
    steps: [
      {
        ask: [
          ...fromEach(EVERYBODY, { to: clusterIP('web', 'stream'), expect: answeredBy('stream') }),
          ...fromEach(EVERYBODY, { to: clusterIP('web', 'packet'), expect: answeredBy('packet') }),
        ],
      },
    ],
  },
  {
    name: 'cluster-ip/named-target-port-differs-by-pod',
    title: 'A named target port may be another number in each pod',
    pods: {
      a: on(1, { ports: [{ name: 'tcp', port: 8081, protocol: 'TCP' }] }),
      b: on(2, { ports: [{ name: 'tcp', port: 8082, protocol: 'TCP' }] }),
      near: asker(1),
      far: asker(2),
    },
    services: { web: {} },
    steps: [
      { ask: fromEach(PODS, { to: clusterIP('web'), expect: answeredSeeing('own', 'a', 'b') }) },
    ],
  },
  {
    name: 'cluster-ip/undefined-port',
    title: 'A port that the Service does not have is refused and never leaves the node',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      {
        ask: fromEach(EVERYBODY, {
          to: { clusterIP: 'web', port: 81, protocol: 'TCP' },
          expect: refused,
          escapes: false,
          otherwise: differently(IPTABLES, {
            expect: silent,
            escapes: true,
            reason: 'no rule matches, so packets leave the node by the default route',
          }),
        }),
      },
    ],
  },
  {
    name: 'cluster-ip/undefined-protocol',
    title: 'The other protocol of a port that a Service has is refused and never leaves the node',
    pods: EVERYWHERE,
    services: { web: {} },
    steps: [
      {
        ask: fromEach(['pod:near', 'pod:far', 'client@node1'], {
          to: { clusterIP: 'web', port: 80, protocol: 'UDP' },
          expect: refused,
          escapes: false,
          otherwise: differently(IPTABLES, {
            expect: silent,
            escapes: true,
            reason: 'no rule matches, so packets leave the node by the default route',
          }),
        }),
      },
    ],
  },
  {
    name: 'cluster-ip/unassigned-address',
    title: 'An address of the service range that no Service has never leaves the node',
    pods: EVERYWHERE,
    steps: [
      {
        ask: fromEach(EVERYBODY, {
          to: { unassigned: true, port: 80, protocol: 'TCP' },
          expect: silent,
          escapes: false,
          otherwise: differently(IPTABLES, {
            expect: silent,
            escapes: true,
            reason:
              'the proxy does not know the service range, so packets leave the node by the default route',
          }),
        }),
      },
    ],
  },
];
