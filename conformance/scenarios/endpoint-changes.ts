import type { Change, Scenario, Step } from '../scenario.ts';
import { answeredBy, asker, clusterIP, fromEach, nodePort, on, refused } from '../words.ts';

const ASKERS = { near: asker(1), far: asker(2) };

/** Asked where a change is seen first and where it is seen from afar. */
function servedBy(...pods: string[]): Step {
  return {
    ask: fromEach(['pod:near', 'pod:far'], {
      to: clusterIP('web'),
      expect: pods.length === 0 ? refused : answeredBy(...pods),
    }),
  };
}

function change(...changes: Change[]): Step {
  return { change: changes };
}

export const endpointChangeScenarios: readonly Scenario[] = [
  {
    name: 'endpoint-changes/added-and-removed',
    title: 'A Service follows its pods as they come and go',
    pods: { a: on(1), ...ASKERS },
    services: { web: {} },
    steps: [
      servedBy('a'),
      change({ addPod: 'b', pod: on(2) }),
      servedBy('a', 'b'),
      change({ addPod: 'c', pod: on(1) }, { addPod: 'd', pod: on(2) }),
      servedBy('a', 'b', 'c', 'd'),
      change({ removePod: 'a' }, { removePod: 'd' }),
      servedBy('b', 'c'),
    ],
  },
  {
    name: 'endpoint-changes/readiness-flips',
    title: 'A Service follows readiness through every turn',
    pods: { a: on(1), b: on(2), ...ASKERS },
    services: { web: {} },
    steps: [
      change({ setReady: 'a', ready: false }),
      servedBy('b'),
      change({ setReady: 'a', ready: true }, { setReady: 'b', ready: false }),
      servedBy('a'),
      change({ setReady: 'b', ready: true }),
      servedBy('a', 'b'),
      // Within one change: what counts is how it ends.
      change(
        { setReady: 'a', ready: false },
        { setReady: 'b', ready: false },
        { setReady: 'a', ready: true },
        { setReady: 'b', ready: true },
        { setReady: 'a', ready: false },
      ),
      servedBy('b'),
    ],
  },
  {
    name: 'endpoint-changes/replaced',
    title: 'When a pod is replaced, its successor serves and no connection goes to the old address',
    pods: { old: on(1), ...ASKERS },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      servedBy('old'),
      change({ removePod: 'old' }, { addPod: 'new', pod: on(2) }),
      servedBy('new'),
      { ask: [{ from: 'client', to: nodePort('web', 1), expect: answeredBy('new') }] },
    ],
  },
  {
    name: 'endpoint-changes/rolling-update',
    title: 'In a rolling update, new pods serve when ready and old ones until they terminate',
    pods: { old1: on(1), old2: on(2), ...ASKERS },
    services: { web: {} },
    steps: [
      change({ addPod: 'new1', pod: on(1, { ready: false }) }),
      servedBy('old1', 'old2'),
      change({ setReady: 'new1', ready: true }, { terminate: 'old1' }),
      servedBy('new1', 'old2'),
      change({ removePod: 'old1' }, { addPod: 'new2', pod: on(2) }, { terminate: 'old2' }),
      servedBy('new1', 'new2'),
      change({ removePod: 'old2' }),
      servedBy('new1', 'new2'),
    ],
  },
  {
    name: 'endpoint-changes/to-zero-and-back',
    title: 'A Service scaled to zero refuses, and serves again when scaled up',
    pods: { a: on(1), b: on(2), ...ASKERS },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      servedBy('a', 'b'),
      change({ removePod: 'a' }, { removePod: 'b' }),
      servedBy(),
      { ask: [{ from: 'client', to: nodePort('web', 2), expect: refused }] },
      change({ addPod: 'c', pod: on(2) }),
      servedBy('c'),
      { ask: [{ from: 'client', to: nodePort('web', 2), expect: answeredBy('c') }] },
    ],
  },
  {
    name: 'endpoint-changes/shared-pods',
    title: 'Services that select the same pods change together and stay separate',
    pods: { a: on(1), b: on(2), ...ASKERS },
    services: { web: {}, twin: { app: 'web', ports: [{ port: 81, targetPort: 'tcp' }] } },
    steps: [
      change({ setReady: 'a', ready: false }),
      servedBy('b'),
      { ask: [{ from: 'pod:near', to: clusterIP('twin'), expect: answeredBy('b') }] },
      change({ deleteService: 'twin' }, { setReady: 'a', ready: true }),
      servedBy('a', 'b'),
    ],
  },
];
