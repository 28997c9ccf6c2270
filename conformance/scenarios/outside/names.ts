import type { Allowance } from '../../../lab/proxies/contract.ts';
import type { Question, Scenario } from '../../scenario.ts';
import { answeredBy, clusterIP, on, silent } from '../../words.ts';
import { OUTSIDE, TWO } from './setup.ts';

const PORTS = ['udp', 'tcp'];

const OF_COREDNS: Allowance = {
  withinMs: 2_000,
  reason: 'CoreDNS reads Services by a watch of its own, which the barrier does not cover',
};

function asked(from: string, name: string): Question[] {
  return PORTS.map((port) => ({
    from,
    to: { resolve: clusterIP('dns', port), name },
    expect: { resolvedTo: name },
    settles: OF_COREDNS,
  }));
}

/** Names, by a real CoreDNS behind a Service. */
export const outsideNameScenarios: readonly Scenario[] = [
  {
    name: 'outside/names',
    title: "The machine resolves names of Services at the ClusterIP of the cluster's DNS server",
    setup: OUTSIDE,
    pods: {
      ...TWO,
      dns: on(1, {
        app: 'dns',
        server: 'coredns',
        hostNetwork: true,
        ports: [
          { name: 'udp', port: 53, protocol: 'UDP' },
          { name: 'tcp', port: 53, protocol: 'TCP' },
        ],
      }),
    },
    services: {
      dns: {
        ports: [
          { name: 'udp', port: 53, targetPort: 'udp', protocol: 'UDP' },
          { name: 'tcp', port: 53, targetPort: 'tcp' },
        ],
      },
      web: {},
    },
    steps: [
      { ask: [...asked('machine', 'web'), ...asked('machine', 'dns')] },
      { ask: [{ from: 'machine', to: clusterIP('web'), expect: answeredBy('a', 'b') }] },
      {
        ask: [
          {
            from: 'neighbour',
            to: { resolve: clusterIP('dns', 'udp'), name: 'web' },
            expect: silent,
            escapes: true,
          },
        ],
      },
    ],
  },
];
