import type { Answer, Scenario, Target } from '../scenario.ts';
import { answeredSeeing, asker, fromEach, nodePort, on, refused, silent, vip } from '../words.ts';

const LOCAL = {
  loadBalancer: [{ name: 'lb' }],
  spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
};

function health(node: number): Target {
  return { healthCheck: 'web', node };
}

function healthy(localEndpoints: number): Answer {
  return { status: 200, localEndpoints };
}

function proxyHealth(path: string, node: number): Target {
  return { http: path, node, port: 10_256 };
}

const UNHEALTHY: Answer = { status: 503, localEndpoints: 0 };

export const healthCheckScenarios: readonly Scenario[] = [
  {
    name: 'health-check/tells-nodes-apart',
    title: 'The health check port tells which nodes have endpoints, and how many',
    pods: { a: on(1), near: asker(1), far: asker(2) },
    services: { web: LOCAL },
    steps: [
      {
        ask: [
          ...fromEach(['client', 'machine', 'node1', 'pod:far'], {
            to: health(1),
            expect: healthy(1),
          }),
          ...fromEach(['client', 'machine', 'node1', 'pod:far'], {
            to: health(2),
            expect: UNHEALTHY,
          }),
        ],
      },
    ],
  },
  {
    name: 'health-check/counts',
    title: 'The health check port counts the pods of the node once, however many ports they have',
    pods: { a: on(1), a2: on(1), b: on(2) },
    services: {
      web: {
        ...LOCAL,
        ports: [
          { name: 'stream', port: 80, targetPort: 'tcp' },
          { name: 'packet', port: 53, targetPort: 'udp', protocol: 'UDP' },
        ],
      },
    },
    steps: [
      {
        ask: [
          { from: 'client', to: health(1), expect: healthy(2) },
          { from: 'client', to: health(2), expect: healthy(1) },
        ],
      },
      { change: [{ removePod: 'a2' }] },
      { ask: [{ from: 'client', to: health(1), expect: healthy(1) }] },
    ],
  },
  {
    name: 'health-check/follows-readiness',
    title: 'The health check port fails when the last endpoint of the node is not ready',
    pods: { a: on(1) },
    services: { web: LOCAL },
    steps: [
      { ask: [{ from: 'client', to: health(1), expect: healthy(1) }] },
      { change: [{ setReady: 'a', ready: false }] },
      { ask: [{ from: 'client', to: health(1), expect: UNHEALTHY }] },
      { change: [{ setReady: 'a', ready: true }] },
      { ask: [{ from: 'client', to: health(1), expect: healthy(1) }] },
    ],
  },
  {
    name: 'health-check/only-terminating',
    title: 'The health check port fails when all endpoints are terminating, while they still serve',
    pods: { a: on(1), near: asker(1) },
    services: { web: LOCAL },
    steps: [
      { ask: [{ from: 'client', to: health(1), expect: healthy(1) }] },
      { change: [{ terminate: 'a' }] },
      {
        ask: [
          { from: 'client', to: health(1), expect: UNHEALTHY },
          { from: 'client', to: nodePort('web', 1), expect: answeredSeeing('own', 'a') },
          { from: 'client@node1', to: vip('lb', 'web'), expect: answeredSeeing('own', 'a') },
        ],
      },
    ],
  },
  {
    name: 'health-check/follows-policy',
    title: 'The health check port is closed under externalTrafficPolicy Cluster, open under Local',
    pods: { a: on(1) },
    services: {
      // From the band that the API server reserves for explicit requests. The change of the policy
      // removes it from the Service, and it is asked after that.
      web: { ...LOCAL, spec: { ...LOCAL.spec, healthCheckNodePort: 30_040 } },
    },
    steps: [
      { ask: [{ from: 'client', to: { http: '/', node: 1, port: 30_040 }, expect: healthy(1) }] },
      { change: [{ patchService: 'web', to: { spec: { externalTrafficPolicy: 'Cluster' } } }] },
      {
        ask: [
          { from: 'client', to: { http: '/', node: 1, port: 30_040 }, expect: refused },
          { from: 'client', to: { http: '/', node: 2, port: 30_040 }, expect: refused },
          { from: 'client', to: nodePort('web', 2), expect: answeredSeeing('node', 'a') },
        ],
      },
      {
        change: [
          {
            patchService: 'web',
            to: { spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 30_040 } },
          },
        ],
      },
      {
        ask: [
          { from: 'client', to: { http: '/', node: 1, port: 30_040 }, expect: healthy(1) },
          { from: 'client', to: { http: '/', node: 2, port: 30_040 }, expect: UNHEALTHY },
          { from: 'client', to: nodePort('web', 2), expect: silent },
        ],
      },
    ],
  },
  {
    name: 'health-check/closes-with-service',
    title: 'The health check port is closed when its Service is deleted',
    pods: { a: on(1) },
    services: { web: LOCAL },
    steps: [
      { ask: [{ from: 'client', to: health(1), expect: healthy(1) }] },
      { change: [{ deleteService: 'web' }] },
      { ask: [{ from: 'client', to: health(1), expect: refused }] },
    ],
  },
  {
    name: 'health-check/proxy-of-leaving-node',
    title: 'The proxy of a node that is about to be deleted fails /healthz, and /livez stays well',
    families: ['ipv4'],
    // Whether the proxy has heard of its Node is seen by the zone, which other scenarios rely on.
    setup: { alone: true },
    pods: {},
    steps: [
      { change: [{ taintNode: 2, keys: ['ToBeDeletedByClusterAutoscaler'] }] },
      {
        ask: [
          { from: 'client', to: proxyHealth('/healthz', 2), expect: { status: 503 } },
          { from: 'client', to: proxyHealth('/livez', 2), expect: { status: 200 } },
          { from: 'client', to: proxyHealth('/healthz', 1), expect: { status: 200 } },
        ],
      },
      { change: [{ taintNode: 2, keys: [] }] },
      { ask: [{ from: 'client', to: proxyHealth('/healthz', 2), expect: { status: 200 } }] },
    ],
  },
  {
    name: 'health-check/proxy',
    title: 'The proxy itself answers health checks on port 10256 of its node',
    // Its default address is 0.0.0.0.
    families: ['ipv4'],
    pods: { near: asker(1), far: asker(2) },
    steps: [
      {
        // Only the first node: another scenario makes the second one fail.
        ask: ['/healthz', '/livez'].flatMap((path) =>
          fromEach(['client', 'machine', 'node1', 'node2', 'pod:near', 'pod:far'], {
            to: proxyHealth(path, 1),
            expect: { status: 200 },
          }),
        ),
      },
    ],
  },
];
