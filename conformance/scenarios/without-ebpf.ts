import type { Allowance } from '../../lab/proxies/contract.ts';
import type { Question, Scenario, Step } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  differently,
  on,
  POD_SOCKET_HOOKS,
  UDP_PORT,
} from '../words.ts';

const LABEL = 'fairlead.dev/ebpf';
const PORTS = [{ name: 'web', port: 80, targetPort: 'tcp' }, UDP_PORT];

/** A pod that reaches itself sees whether a packet was translated, or its socket was led. */
const MASKED: readonly Question[] = PORTS.map(({ name }) => ({
  from: 'pod:a',
  to: clusterIP('web', name),
  expect: answeredSeeing('node', 'a'),
}));
const BY_SOCKETS: readonly Question[] = MASKED.map((question) => ({
  ...question,
  otherwise: differently(POD_SOCKET_HOOKS, {
    expect: answeredSeeing('own', 'a'),
    reason:
      'the socket of the pod is connected to the pod itself, so there is no packet to masquerade',
  }),
}));

const HELD = PORTS.map(({ name }) => name ?? '');
const HOLD: readonly Step[] = HELD.map((name) => ({
  hold: { name, from: 'pod:near', to: clusterIP('web', name), expect: answeredBy('a') },
}));
const STILL: readonly Step[] = HELD.map((held) => ({ held, expect: answeredBy('a') }));

const NAMESPACES: Allowance = {
  withinMs: 2_000,
  reason: 'labels of namespaces come by another watch, which the barrier does not cover',
};

function soon(questions: readonly Question[]): Question[] {
  return questions.map((question) => ({ ...question, settles: NAMESPACES }));
}

/** Whoever wants a Service left to packets says so by a label, and cuts no connection by it. */
export const withoutEbpfScenarios: readonly Scenario[] = [
  {
    name: 'without-ebpf/by-label-of-the-service',
    title:
      'A Service with the label is served by nftables alone, and its open connections continue',
    pods: { a: on(1), near: asker(1) },
    services: { web: { ports: PORTS } },
    steps: [
      { ask: BY_SOCKETS },
      ...HOLD,
      { change: [{ patchService: 'web', to: { labels: { [LABEL]: 'off' } } }] },
      { ask: MASKED },
      ...STILL,
      { change: [{ patchService: 'web', to: { labels: { [LABEL]: null } } }] },
      { ask: BY_SOCKETS },
      ...STILL,
    ],
  },
  {
    name: 'without-ebpf/by-label-of-the-namespace',
    title: 'The label of a namespace holds for its Services that do not say it themselves',
    pods: { a: on(1), near: asker(1) },
    services: { web: { ports: PORTS } },
    steps: [
      { ask: BY_SOCKETS },
      ...HOLD,
      { change: [{ labelNamespace: { [LABEL]: 'off' } }] },
      { ask: soon(MASKED) },
      ...STILL,
      { change: [{ patchService: 'web', to: { labels: { [LABEL]: 'on' } } }] },
      { ask: BY_SOCKETS },
      { change: [{ patchService: 'web', to: { labels: { [LABEL]: null } } }] },
      { ask: MASKED },
      { change: [{ labelNamespace: { [LABEL]: null } }] },
      { ask: soon(BY_SOCKETS) },
      ...STILL,
    ],
  },
];
