import type { Allowance } from '../../lab/proxies/contract.ts';
import type { Question, Scenario } from '../scenario.ts';
import { answeredBy, asker, clusterIP, fromEach, on, UDP_PORT } from '../words.ts';

const TCP_PORT = { name: 'dns-tcp', port: 53, targetPort: 'tcp' } as const;

/** Over both protocols, as resolvers ask. */
function asked(from: readonly string[], ...answerers: string[]): Question[] {
  return [UDP_PORT.name, TCP_PORT.name].flatMap((port) =>
    fromEach(from, { to: clusterIP('dns', port), expect: answeredBy(...answerers) }),
  );
}

/** Each a moment after the node got the addresses, or lost them. */
function askedSoon(from: readonly string[], ...answerers: string[]): Question[] {
  return asked(from, ...answerers).map((question) => ({ ...question, settles: OF_THE_KERNEL }));
}

const OF_THE_KERNEL: Allowance = {
  withinMs: 2_000,
  reason:
    'the proxy learns the addresses of a node from the kernel and not from the API, so the barrier does not cover them',
};

const ON_NODE_1 = ['pod:near', 'node1'];
const ON_NODE_2 = ['pod:far', 'node2'];

/** Who takes an address of a Service to the node itself, and exempts it from tracking, has it. */
export const nodeCacheScenarios: readonly Scenario[] = [
  {
    name: 'node-cache/has-the-cluster-ip',
    title:
      'A cache that has the cluster IP of DNS on its node, as NodeLocal DNSCache does, answers there until it goes',
    pods: { a: on(1), b: on(2), near: asker(1), far: asker(2) },
    services: { dns: { app: 'web', ports: [UDP_PORT, TCP_PORT] } },
    steps: [
      { ask: asked([...ON_NODE_1, ...ON_NODE_2], 'a', 'b') },
      { change: [{ startNodeCache: 'cache', node: 1, service: 'dns' }] },
      { ask: [...askedSoon(ON_NODE_1, 'cache'), ...asked(ON_NODE_2, 'a', 'b')] },
      { change: [{ removePod: 'a' }, { removePod: 'b' }] },
      { ask: asked(ON_NODE_1, 'cache') },
      { change: [{ addPod: 'c', pod: on(2) }] },
      { ask: [...asked(ON_NODE_1, 'cache'), ...asked(ON_NODE_2, 'c')] },
      { change: [{ stopNodeCache: 'cache' }] },
      { ask: [...askedSoon(ON_NODE_1, 'c'), ...asked(ON_NODE_2, 'c')] },
    ],
  },
];
