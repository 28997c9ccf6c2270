import type { Question, Scenario } from '../scenario.ts';
import { asker, clusterIP, nodePort, on, RESET_BY_FORWARDER, refused, vip } from '../words.ts';

/** No pod of these scenarios listens on this port. */
const CLOSED_PORT = 9;

function everyWay(port: string): Question[] {
  return [
    { from: 'pod:near', to: clusterIP('web', port), expect: refused },
    { from: 'pod:far', to: clusterIP('web', port), expect: refused },
    { from: 'node1', to: clusterIP('web', port), expect: refused },
    { from: 'node2', to: clusterIP('web', port), expect: refused },
    { from: 'client', to: nodePort('web', 1, port), expect: refused },
    { from: 'client', to: nodePort('web', 2, port), expect: refused },
    { from: 'pod:near', to: nodePort('web', 2, port), expect: refused },
    { from: 'client@node2', to: vip('external', 'web', port), expect: refused },
  ];
}

export const icmpErrorScenarios: readonly Scenario[] = [
  {
    name: 'icmp-errors/closed-port',
    title: 'A client of an endpoint whose port is closed is refused by the address that it asked',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: {
      web: {
        spec: { type: 'NodePort' },
        externalIPs: ['external'],
        ports: [
          { name: 'udp', port: 53, targetPort: CLOSED_PORT, protocol: 'UDP' },
          { name: 'tcp', port: 80, targetPort: CLOSED_PORT },
        ],
      },
    },
    steps: [
      {
        ask: [
          ...everyWay('udp'),
          ...everyWay('tcp').map((question) => ({ ...question, otherwise: RESET_BY_FORWARDER })),
        ],
      },
    ],
  },
];
