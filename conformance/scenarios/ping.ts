import type { Scenario } from '../scenario.ts';
import {
  asker,
  clusterIP,
  differently,
  echoed,
  fromEach,
  IPTABLES,
  on,
  ping,
  podIP,
  refused,
  silent,
  vip,
} from '../words.ts';

const ASKERS = ['pod:near', 'node1', 'client@node1'];

/** kube-proxy in mode ipvs puts every address of a Service on a device of the node. */
const REJECTED_BY_NODE = differently(['upstream-ipvs'], {
  expect: refused,
  escapes: false,
  reason:
    'the node has the addresses of all Services on the device kube-ipvs0, and the chain KUBE-IPVS-FILTER rejects what is for none of their ports',
});

export const pingScenarios: readonly Scenario[] = [
  {
    name: 'ping/pod',
    title: 'An echo request to a pod is answered by the pod',
    pods: { a: on(1), b: on(2), near: asker(1) },
    steps: [
      {
        ask: [
          ...fromEach(['pod:near', 'node1', 'machine@node1'], {
            to: ping(podIP('a')),
            expect: echoed,
          }),
          ...fromEach(['pod:near', 'node1', 'machine@node1'], {
            to: ping(podIP('b')),
            expect: echoed,
          }),
        ],
      },
    ],
  },
  {
    name: 'ping/cluster-ip',
    title: 'An echo request to a ClusterIP is refused and never leaves the node',
    pods: { a: on(1), near: asker(1) },
    services: { web: {} },
    steps: [
      {
        ask: fromEach(ASKERS, {
          to: ping(clusterIP('web')),
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
    name: 'ping/external-ip',
    title: 'An echo request to an external IP is routed like any other packet',
    pods: { a: on(1), near: asker(1) },
    services: { web: { externalIPs: ['external'] } },
    steps: [
      {
        ask: fromEach(ASKERS, {
          to: ping(vip('external', 'web')),
          expect: silent,
          escapes: true,
          otherwise: REJECTED_BY_NODE,
        }),
      },
    ],
  },
  {
    name: 'ping/load-balancer-ip',
    title: 'An echo request to a load-balancer IP is routed like any other packet',
    pods: { a: on(1), near: asker(1) },
    services: { web: { spec: { type: 'LoadBalancer' }, loadBalancer: [{ name: 'cloud' }] } },
    steps: [
      {
        ask: fromEach(ASKERS, {
          to: ping(vip('cloud', 'web')),
          expect: silent,
          escapes: true,
          otherwise: REJECTED_BY_NODE,
        }),
      },
    ],
  },
];
