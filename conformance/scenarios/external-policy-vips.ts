import type { Scenario, ServiceDeclaration } from '../scenario.ts';
import {
  answeredSeeing,
  asker,
  differently,
  fromEach,
  IPTABLES,
  on,
  refused,
  silent,
  vip,
} from '../words.ts';

const EXTERNAL_IP: ServiceDeclaration = {
  externalIPs: ['vip'],
  spec: { externalTrafficPolicy: 'Local' },
};
const LOAD_BALANCER: ServiceDeclaration = {
  loadBalancer: [{ name: 'vip' }],
  spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
};
const VIP = vip('vip', 'web');
const BOTH_NODES = { a: on(1), b: on(2), near: asker(1), far: asker(2) };
const FIRST_NODE = { a: on(1), a2: on(1), near: asker(1), far: asker(2) };

/** The policy means the same for an external IP and for a load-balancer IP. */
function ofVip(kind: string, what: string, service: ServiceDeclaration): Scenario[] {
  return [
    {
      name: `external-policy/${kind}-from-outside`,
      title: `With externalTrafficPolicy Local ${what} leads to endpoints of the node it arrives at, which see the client`,
      pods: BOTH_NODES,
      services: { web: service },
      steps: [
        {
          ask: [
            ...fromEach(['client@node1', 'machine@node1'], {
              to: VIP,
              expect: answeredSeeing('own', 'a'),
            }),
            ...fromEach(['client@node2', 'machine@node2'], {
              to: VIP,
              expect: answeredSeeing('own', 'b'),
            }),
          ],
        },
      ],
    },
    {
      name: `external-policy/${kind}-no-local-endpoint`,
      title: `With externalTrafficPolicy Local a node without an endpoint drops what arrives for ${what}`,
      pods: FIRST_NODE,
      services: { web: service },
      steps: [
        {
          ask: [
            { from: 'client@node1', to: VIP, expect: answeredSeeing('own', 'a', 'a2') },
            ...fromEach(['client@node2', 'machine@node2'], {
              to: VIP,
              expect: silent,
              escapes: false,
            }),
          ],
        },
      ],
    },
    {
      name: `external-policy/${kind}-from-inside`,
      title: `With externalTrafficPolicy Local pods and nodes still reach every endpoint through ${what}`,
      pods: BOTH_NODES,
      services: { web: service },
      steps: [
        {
          ask: [
            ...fromEach(['pod:near', 'pod:far'], {
              to: VIP,
              expect: answeredSeeing('own', 'a', 'b'),
            }),
            ...fromEach(['node1', 'node2'], { to: VIP, expect: answeredSeeing('node', 'a', 'b') }),
          ],
        },
      ],
    },
    {
      name: `external-policy/${kind}-from-inside-no-local-endpoint`,
      title: `With externalTrafficPolicy Local pods and nodes without a local endpoint reach the others through ${what}`,
      pods: FIRST_NODE,
      services: { web: service },
      steps: [
        {
          ask: [
            { from: 'pod:far', to: VIP, expect: answeredSeeing('own', 'a', 'a2'), escapes: false },
            { from: 'node2', to: VIP, expect: answeredSeeing('node', 'a', 'a2'), escapes: false },
          ],
        },
      ],
    },
    {
      name: `external-policy/${kind}-no-endpoints`,
      title: `With externalTrafficPolicy Local and no endpoint anywhere ${what} is refused`,
      pods: { near: asker(1), far: asker(2) },
      services: { web: service },
      steps: [
        {
          ask: [
            ...fromEach(['client@node1', 'client@node2', 'machine@node1', 'pod:near'], {
              to: VIP,
              expect: refused,
              escapes: false,
            }),
            {
              from: 'node1',
              to: VIP,
              expect: refused,
              escapes: false,
              otherwise: differently(IPTABLES, {
                expect: silent,
                escapes: true,
                reason:
                  'only packets that arrive at the node are checked, so packets of the node itself leave by the default route',
              }),
            },
          ],
        },
      ],
    },
  ];
}

export const externalPolicyVipScenarios: readonly Scenario[] = [
  ...ofVip('external-ip', 'an external IP', EXTERNAL_IP),
  ...ofVip('load-balancer', 'a load-balancer IP', LOAD_BALANCER),
];
