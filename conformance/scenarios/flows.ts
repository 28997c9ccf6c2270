import type { Allowance } from '../../lab/proxies/contract.ts';
import type { HeldFlow, KnownDifference, Scenario, SliceDeclaration, Step } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  differently,
  NODE_SOCKET_HOOKS,
  nodePort,
  on,
  POD_SOCKET_HOOKS,
  refused,
  silent,
  UDP_PORT,
  UPSTREAM,
  UPSTREAM_BEFORE_1_37,
  unserved,
  vip,
} from '../words.ts';

const ASKERS = { near: asker(1), far: asker(2) };
const UDP_ONLY = { ports: [UDP_PORT] };

function hold(flow: HeldFlow): Step {
  return { hold: flow };
}

function still(held: string, pod: string): Step {
  return { held, expect: answeredBy(pod) };
}

/** Two seconds of silence, and then one more try. */
const NEXT_LOOK: Allowance = {
  withinMs: 3_000,
  reason:
    'conntrack entries are deleted after the rules are written, and after a pause of up to two seconds if many change (docs/flows.md)',
};
const NEXT_SYN: Allowance = {
  withinMs: 10_000,
  reason:
    'the client sends its next SYN one, two and four seconds after the one before, and an entry that may still be answered stays for a second (docs/flows.md)',
};

function movedTo(held: string, pod: string): Step {
  return { held, expect: answeredBy(pod), settles: NEXT_LOOK };
}

const ENDED: KnownDifference = {
  expect: unserved,
  reason:
    'the peer of a connected UDP socket is the endpoint; when the endpoint is removed, the socket is closed with ECONNABORTED, and the application has to connect again',
};

/** For a client whose socket a hook may have connected. */
function moved(held: string, pod: string, hooked: readonly string[] = POD_SOCKET_HOOKS): Step {
  return {
    held,
    expect: answeredBy(pod),
    settles: NEXT_LOOK,
    otherwise: differently(hooked, ENDED),
  };
}

const DEAD_POD: KnownDifference = {
  expect: silent,
  reason:
    'the conntrack entry of a UDP flow to a NodePort stays when its Service has no endpoint left, so packets still go to the removed pod',
};
const BLACK_HOLE: KnownDifference = {
  expect: silent,
  reason:
    'conntrack entries of UDP are checked only when slices change, so a flow that began before the address was added stays untranslated',
};

const LOST_TRY: KnownDifference = {
  expect: silent,
  reason:
    'conntrack entries of TCP are never checked, so every SYN of a client that connected too early goes to the same place as its first one, until connect times out',
};
const TO_EXTERNAL = { address: 'external', port: 80, protocol: 'TCP' } as const;

const NUMBERED = [{ name: 'web', port: 80, targetPort: 8080 }];

function sliceOf(...pods: string[]): SliceDeclaration {
  const ports = [{ name: 'web', port: 8080 }];
  return { service: 'web', ports, endpoints: pods.map((pod) => ({ pod })) };
}

export const flowScenarios: readonly Scenario[] = [
  {
    name: 'flows/udp-follows-a-replaced-pod',
    title: 'A UDP client that keeps its socket reaches the new pod when the old one is replaced',
    pods: { old: on(1), ...ASKERS },
    services: { web: { ...UDP_ONLY, spec: { type: 'NodePort' }, externalIPs: ['external'] } },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('old') }),
      hold({ name: 'node', from: 'node2', to: clusterIP('web'), expect: answeredBy('old') }),
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('old') }),
      hold({
        name: 'external',
        from: 'client@node2',
        to: vip('external', 'web'),
        expect: answeredBy('old'),
      }),
      { change: [{ removePod: 'old' }, { addPod: 'new', pod: on(2) }] },
      moved('pod', 'new'),
      moved('node', 'new', NODE_SOCKET_HOOKS),
      movedTo('port', 'new'),
      movedTo('external', 'new'),
    ],
  },
  {
    name: 'flows/udp-leaves-an-unready-pod',
    title: 'A UDP client that keeps its socket moves on when its pod stops being ready',
    pods: { a: on(1), b: on(2, { ready: false }), ...ASKERS },
    services: { web: UDP_ONLY },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }),
      {
        change: [
          { setReady: 'b', ready: true },
          { setReady: 'a', ready: false },
        ],
      },
      moved('pod', 'b'),
    ],
  },
  {
    name: 'flows/udp-to-zero-and-back',
    title:
      'A UDP client that keeps its socket is refused at zero endpoints and served when one comes',
    pods: { old: on(2), ...ASKERS },
    services: { web: { ...UDP_ONLY, externalIPs: ['external'] } },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('old') }),
      hold({
        name: 'external',
        from: 'client@node1',
        to: vip('external', 'web'),
        expect: answeredBy('old'),
      }),
      { change: [{ removePod: 'old' }] },
      {
        held: 'pod',
        expect: refused,
        settles: NEXT_LOOK,
        otherwise: {
          ...differently(UPSTREAM_BEFORE_1_37, DEAD_POD),
          ...differently(POD_SOCKET_HOOKS, ENDED),
        },
      },
      {
        held: 'external',
        expect: refused,
        settles: NEXT_LOOK,
        otherwise: differently(UPSTREAM_BEFORE_1_37, DEAD_POD),
      },
      { change: [{ addPod: 'new', pod: on(1) }] },
      moved('pod', 'new'),
      movedTo('external', 'new'),
    ],
  },
  {
    name: 'flows/udp-node-port-to-zero-and-back',
    title:
      'A UDP client of a NodePort that keeps its socket is refused at zero endpoints and served when one comes',
    pods: { old: on(2), ...ASKERS },
    services: { web: { ...UDP_ONLY, spec: { type: 'NodePort' } } },
    steps: [
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('old') }),
      { change: [{ removePod: 'old' }] },
      {
        held: 'port',
        expect: refused,
        settles: NEXT_LOOK,
        otherwise: differently(UPSTREAM, DEAD_POD),
      },
      { change: [{ addPod: 'new', pod: on(1) }] },
      movedTo('port', 'new'),
    ],
  },
  {
    name: 'flows/udp-before-the-service',
    title: 'A UDP client that sent before the Service was there reaches it once it is',
    pods: { a: on(2), ...ASKERS },
    steps: [
      hold({
        name: 'pod',
        from: 'pod:near',
        to: { address: 'external', port: 53, protocol: 'UDP' },
        expect: silent,
      }),
      hold({
        name: 'client',
        from: 'client@node2',
        to: { address: 'external', port: 53, protocol: 'UDP' },
        expect: silent,
      }),
      { change: [{ createService: 'web', service: { ...UDP_ONLY, externalIPs: ['external'] } }] },
      movedTo('pod', 'a'),
      movedTo('client', 'a'),
    ],
  },
  {
    name: 'flows/udp-before-the-endpoints',
    title: 'A UDP client that was refused for want of endpoints is served once there is one',
    pods: ASKERS,
    services: { web: { ...UDP_ONLY, spec: { type: 'NodePort' } } },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: refused }),
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: refused }),
      { change: [{ addPod: 'a', pod: on(2) }] },
      movedTo('pod', 'a'),
      movedTo('port', 'a'),
    ],
  },
  {
    name: 'flows/udp-before-the-address',
    title: 'A UDP client that sent before its Service got an external IP is served once it has it',
    // Any change of a UDP Service would heal the flow by accident.
    setup: { alone: true },
    pods: { a: on(2), ...ASKERS },
    services: { web: UDP_ONLY },
    steps: [
      hold({
        name: 'pod',
        from: 'pod:near',
        to: { address: 'external', port: 53, protocol: 'UDP' },
        expect: silent,
      }),
      { change: [{ patchService: 'web', to: { externalIPs: ['external'] } }] },
      {
        ask: [{ from: 'pod:near', to: vip('external', 'web'), expect: answeredBy('a') }],
      },
      { ...movedTo('pod', 'a'), otherwise: differently(UPSTREAM, BLACK_HOLE) },
    ],
  },
  {
    name: 'flows/udp-target-port-changes',
    title: 'A UDP client that keeps its socket reaches the new target port of its Service',
    // The pod listens only on the second port, and rejects connections to the first.
    pods: { a: on(2, { ports: [{ port: 9090, protocol: 'UDP' }] }), ...ASKERS },
    services: { web: { ports: [{ ...UDP_PORT, targetPort: 8080 }] } },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: refused }),
      { change: [{ patchService: 'web', to: { ports: [{ ...UDP_PORT, targetPort: 9090 }] } }] },
      moved('pod', 'a'),
    ],
  },
  {
    name: 'flows/udp-stays-where-it-may',
    title: 'A UDP flow stays with its pod while that is ready, whatever happens to others',
    pods: { a: on(1), b: on(2, { ready: false }), ...ASKERS },
    services: { web: UDP_ONLY },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }),
      {
        change: [
          { setReady: 'b', ready: true },
          { addPod: 'c', pod: on(2) },
          { createService: 'other', service: { ...UDP_ONLY, app: 'web' } },
        ],
      },
      still('pod', 'a'),
      { change: [{ removePod: 'b' }, { deleteService: 'other' }] },
      still('pod', 'a'),
      { change: [{ patchService: 'web', to: { externalIPs: ['external'] } }] },
      still('pod', 'a'),
    ],
  },
  {
    name: 'flows/udp-survives-termination',
    title: 'A UDP flow continues while its pod terminates, and moves when the pod is gone',
    pods: { a: on(2), old: on(2, { app: 'witness' }), ...ASKERS },
    services: { web: { ...UDP_ONLY, spec: { type: 'NodePort' } }, witness: UDP_ONLY },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }),
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('a') }),
      hold({
        name: 'witness',
        from: 'client@node1',
        to: clusterIP('witness'),
        expect: answeredBy('old'),
      }),
      { change: [{ addPod: 'b', pod: on(1) }, { terminate: 'a' }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') }] },
      // Stale flows are deleted some time after the rules are written, all in one pass: when this
      // one has moved, the pass has handled those that must stay too.
      { change: [{ removePod: 'old' }, { addPod: 'new', pod: on(2, { app: 'witness' }) }] },
      movedTo('witness', 'new'),
      still('pod', 'a'),
      still('port', 'a'),
      { change: [{ removePod: 'a' }] },
      moved('pod', 'b'),
      movedTo('port', 'b'),
    ],
  },
  {
    name: 'flows/tcp-before-the-address',
    title:
      'A TCP client that began to connect before its Service got an external IP is connected once it has it',
    pods: { a: on(2), ...ASKERS },
    // Exists already, with its endpoint: between the two a SYN would be rejected.
    services: { web: {} },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: TO_EXTERNAL, expect: silent }),
      hold({ name: 'client', from: 'client@node2', to: TO_EXTERNAL, expect: silent }),
      { change: [{ patchService: 'web', to: { externalIPs: ['external'] } }] },
      { ...still('pod', 'a'), settles: NEXT_SYN, otherwise: differently(UPSTREAM, LOST_TRY) },
      { ...still('client', 'a'), settles: NEXT_SYN, otherwise: differently(UPSTREAM, LOST_TRY) },
    ],
  },
  {
    name: 'flows/tcp-survives-changes-around-it',
    title: 'A TCP connection survives changes of other Services and of everything else of its own',
    pods: { a: on(2), b: on(1, { ready: false }), ...ASKERS },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }),
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('a') }),
      {
        change: [
          { createService: 'other', service: { app: 'web' } },
          { setReady: 'b', ready: true },
        ],
      },
      still('pod', 'a'),
      still('port', 'a'),
      {
        change: [
          { deleteService: 'other' },
          { patchService: 'web', to: { spec: { sessionAffinity: 'ClientIP' } } },
        ],
      },
      still('pod', 'a'),
      still('port', 'a'),
      { change: [{ patchService: 'web', to: { externalIPs: ['external'] } }] },
      still('pod', 'a'),
      still('port', 'a'),
    ],
  },
  {
    name: 'flows/tcp-survives-termination',
    title: 'A TCP connection continues while its pod terminates, though new ones go elsewhere',
    pods: { a: on(2), ...ASKERS },
    services: { web: { spec: { type: 'NodePort' } } },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }),
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('a') }),
      { change: [{ addPod: 'b', pod: on(1) }, { terminate: 'a' }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('b') }] },
      still('pod', 'a'),
      still('port', 'a'),
    ],
  },
  {
    name: 'flows/tcp-outlives-its-endpoint',
    title:
      'A TCP connection outlives the removal of its endpoint from the slice while the pod still serves',
    pods: { a: on(2), b: on(1), ...ASKERS },
    services: {
      web: { app: null, ports: NUMBERED, spec: { type: 'NodePort' }, externalIPs: ['external'] },
    },
    slices: { web: sliceOf('a') },
    steps: [
      hold({ name: 'pod', from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }),
      hold({ name: 'node', from: 'node1', to: clusterIP('web'), expect: answeredBy('a') }),
      hold({ name: 'port', from: 'client', to: nodePort('web', 1), expect: answeredBy('a') }),
      hold({
        name: 'external',
        from: 'client@node2',
        to: vip('external', 'web'),
        expect: answeredBy('a'),
      }),
      { change: [{ writeSlice: 'web', slice: sliceOf('b') }] },
      // Long enough that a proxy that looks at its connections every second has done so.
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            connections: 4,
            apartMs: 1_000,
            expect: answeredBy('b'),
          },
        ],
      },
      ...['pod', 'node', 'port', 'external'].map((held) => still(held, 'a')),
      { change: [{ writeSlice: 'web', slice: sliceOf() }] },
      { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: refused }] },
      ...['pod', 'node', 'port', 'external'].map((held) => still(held, 'a')),
    ],
  },
];
