import {
  type Attack,
  endpoints,
  externalIps,
  MOST_IN_SLICE,
  ONE_PORT,
  SLICE_PORTS,
  TARGET_PORT,
} from './attack.ts';
import { type Attacker, inParallel } from './attacker.ts';

const LEAST_EXTERNAL_IPS = 150;
const PORTS = 1_000;
const LONGEST_TIMEOUT_SECONDS = 86_400;
/** Annotations of one object may have 256 KiB together. */
const ANNOTATION_BYTES = 250 * 1024;
const LONG_NAME = `s${'x'.repeat(62)}`;
const INGRESS = '198.19.0.1';
const WRITERS = 8;

/** What can be done with Services. */
export const SERVICE_ATTACKS: readonly Attack[] = [
  {
    name: 'external IPs',
    what: '150 to 3,000 externalIPs on a Service with 1,000 endpoints, both changed all the time',
    run: manyExternalIps,
  },
  {
    name: 'ports',
    what: '1,000 ports on one Service, its endpoints replaced all the time',
    run: manyPorts,
  },
  {
    name: 'ranges',
    what: '12,000 source ranges on one load balancer, all of them replaced again and again',
    run: manyRanges,
  },
  {
    name: 'affinity',
    what: 'up to 4,000 sticky Services whose time-outs change all the time',
    run: manyTimeouts,
  },
  {
    name: 'policies',
    what: 'types and traffic policies of a Service with 1,000 endpoints flipped',
    run: flipPolicies,
  },
  {
    name: 'long texts',
    what: 'names of 63 characters, 250 KB of annotations that change all the time',
    run: longTexts,
  },
  {
    name: 'storm',
    what: 'Services and slices created and deleted by eight writers',
    run: createAndDelete,
  },
];

async function manyExternalIps(on: Attacker, signal: AbortSignal): Promise<void> {
  const { random, limits } = on;
  const count = Math.min(MOST_IN_SLICE, limits.externalEndpoints);
  const ips = (): string[] =>
    externalIps(
      random.between(Math.min(LEAST_EXTERNAL_IPS, limits.externalIps), limits.externalIps),
    );
  await on.createService('ips', { ports: ONE_PORT, externalIPs: ips() });
  const slice = { name: 'ips', service: 'ips', ports: SLICE_PORTS };
  await on.createSlice({ ...slice, endpoints: endpoints({ block: 0, count, from: 0 }) });
  await inParallel(1, signal, async () => {
    await on.patchService('ips', { externalIPs: ips() });
    await on.patchSlice('ips', endpoints({ block: 0, count, from: random.below(2_000) }));
  });
}

async function manyPorts(on: Attacker, signal: AbortSignal): Promise<void> {
  const names = Array.from({ length: PORTS }, (_, index) => `p${index}`);
  const ports = names.map((name, index) => ({
    name,
    protocol: 'TCP',
    port: 1_000 + index,
    targetPort: TARGET_PORT,
  }));
  await on.createService('ports', { ports });
  const ofSlice = names.map((name) => ({ name, protocol: 'TCP', port: TARGET_PORT }));
  const list = (): object[] => endpoints({ block: 1, count: 5, from: on.random.below(60_000) });
  await on.createSlice({ name: 'ports', service: 'ports', endpoints: list(), ports: ofSlice });
  await inParallel(1, signal, () => on.patchSlice('ports', list()));
}

async function manyRanges(on: Attacker, signal: AbortSignal): Promise<void> {
  const ranges = (): string[] => {
    const from = on.random.below(200) * 2;
    return Array.from({ length: on.limits.sourceRanges }, (_, index) => {
      const host = from + index * 2;
      return `100.${64 + (host >> 16)}.${(host >> 8) & 0xff}.${host & 0xff}/32`;
    });
  };
  await on.createService('ranges', {
    type: 'LoadBalancer',
    ports: ONE_PORT,
    loadBalancerSourceRanges: ranges(),
  });
  await on.setIngress('ranges', [INGRESS]);
  const list = endpoints({ block: 2, count: 5, from: 0 });
  await on.createSlice({ name: 'ranges', service: 'ranges', endpoints: list, ports: SLICE_PORTS });
  await inParallel(1, signal, () =>
    on.patchService('ranges', { loadBalancerSourceRanges: ranges() }),
  );
}

async function manyTimeouts(on: Attacker, signal: AbortSignal): Promise<void> {
  const { random, limits } = on;
  const affinity = (): object => ({
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: {
      clientIP: { timeoutSeconds: random.between(1, LONGEST_TIMEOUT_SECONDS) },
    },
  });
  let made = 0;
  await inParallel(WRITERS, signal, async () => {
    if (made >= limits.stickyServices) {
      return await on.patchService(`sticky-${random.below(limits.stickyServices)}`, affinity());
    }
    const index = made++;
    const name = `sticky-${index}`;
    const list = endpoints({ block: 3, count: 2, from: index * 2 });
    await on.createService(name, { ports: ONE_PORT, ...affinity() });
    await on.createSlice({ name, service: name, endpoints: list, ports: SLICE_PORTS });
  });
}

async function flipPolicies(on: Attacker, signal: AbortSignal): Promise<void> {
  const { random } = on;
  const list = endpoints({ block: 4, count: MOST_IN_SLICE, from: 0, nodeName: 'node1' });
  await on.createService('flips', { type: 'NodePort', ports: ONE_PORT });
  await on.createSlice({ name: 'flips', service: 'flips', endpoints: list, ports: SLICE_PORTS });
  await inParallel(1, signal, async () => {
    await on.patchService('flips', {
      type: random.pick(['NodePort', 'LoadBalancer']),
      internalTrafficPolicy: random.pick(['Cluster', 'Local']),
      externalTrafficPolicy: random.pick(['Cluster', 'Local']),
      sessionAffinity: random.pick(['None', 'ClientIP']),
    });
  });
}

async function longTexts(on: Attacker, signal: AbortSignal): Promise<void> {
  const annotations = (): object => ({
    'example.org/long': String(on.random.below(10)).repeat(ANNOTATION_BYTES),
  });
  await on.createService(LONG_NAME, { ports: ONE_PORT }, annotations());
  const host = { hostname: 'h'.repeat(63), zone: 'z'.repeat(63), nodeName: 'n'.repeat(63) };
  const list = endpoints({ block: 5, count: MOST_IN_SLICE, from: 0 }).map((endpoint) => ({
    ...endpoint,
    ...host,
  }));
  await on.createSlice({
    name: LONG_NAME,
    service: LONG_NAME,
    endpoints: list,
    ports: SLICE_PORTS,
  });
  await inParallel(2, signal, () => on.annotateService(LONG_NAME, annotations()));
}

async function createAndDelete(on: Attacker, signal: AbortSignal): Promise<void> {
  await inParallel(WRITERS, signal, async (worker) => {
    const name = `storm-${worker}-${on.random.below(50)}`;
    const list = endpoints({ block: 6, count: on.random.between(1, 100), from: worker * 100 });
    await on.createService(name, { ports: ONE_PORT });
    await on.createSlice({ name, service: name, endpoints: list, ports: SLICE_PORTS });
    await on.deleteService(name);
    await on.deleteSlice(name);
  });
}
