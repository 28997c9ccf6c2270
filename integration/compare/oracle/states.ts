import fc from 'fast-check';

/** A cluster as the oracle reads it: objects in the API's own form, and the node of the proxy. */
export interface ClusterState {
  readonly nodeName: string;
  readonly zone: string;
  /** Settings of the proxy; what upstream chooses does not depend on them, what it does, does. */
  readonly detectsPods: boolean;
  readonly masqueradeAll: boolean;
  readonly services: readonly object[];
  readonly slices: readonly object[];
}

const NODES = ['here', 'there', 'beyond'];
const ZONES = ['zone-a', 'zone-b', 'zone-c'];
const SERVICES = ['web', 'dns'];
const PORT_NAMES = ['', 'http', 'admin'];
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const FAMILIES = ['IPv4', 'IPv6'] as const;

/** Few names and addresses, so that objects meet: most bugs are in what two of them share. */
export function clusterStates(): fc.Arbitrary<ClusterState> {
  return fc.record({
    nodeName: fc.constant('here'),
    zone: fc.constantFrom('zone-a', 'zone-a', 'zone-b', ''),
    detectsPods: fc.boolean(),
    masqueradeAll: fc.boolean(),
    services: fc.tuple(...SERVICES.map((name, index) => service(name, index + 1))),
    slices: fc
      .array(slice(), { maxLength: 5 })
      .map((slices) => slices.map((found, index) => named(found, `slice-${index}`))),
  });
}

function service(name: string, number: number): fc.Arbitrary<object> {
  return fc
    .record({ spec: serviceSpec(number), ingress: fc.array(ingress(number), { maxLength: 3 }) })
    .map(({ spec, ingress: found }) => ({
      metadata: { namespace: 'ns', name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec,
      status: { loadBalancer: { ingress: found } },
    }));
}

function serviceSpec(number: number): fc.Arbitrary<object> {
  const v4 = `10.96.0.${number}`;
  const v6 = `fd00:96::${number}`;
  const addresses = fc.constantFrom<readonly [string[], string[]]>(
    [
      [v4, v6],
      ['IPv4', 'IPv6'],
    ],
    [
      [v6, v4],
      ['IPv6', 'IPv4'],
    ],
    [[v4], ['IPv4']],
    [[v6], ['IPv6']],
  );
  return fc
    .record({
      addresses,
      type: fc.constantFrom('ClusterIP', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'),
      ports: fc.uniqueArray(servicePort(), {
        maxLength: 3,
        selector: (port) => `${port.name}/${port.protocol}`,
      }),
      externalIPs: fc.subarray(['198.18.0.1', '198.018.0.2', 'fd00:18::1', 'fd00:18:0::2']),
      policies: policies(),
      affinity: affinity(),
      ranges: sourceRanges(),
      healthCheckNodePort: fc.constantFrom(0, 32000 + number),
    })
    .map(({ addresses: [clusterIPs, ipFamilies], policies: p, affinity: a, ranges, ...rest }) => ({
      ...rest,
      ...p,
      ...a,
      clusterIP: clusterIPs[0],
      clusterIPs,
      ipFamilies,
      loadBalancerSourceRanges: ranges,
    }));
}

function servicePort(): fc.Arbitrary<{ name: string; protocol: string }> {
  return fc.record({
    name: fc.constantFrom(...PORT_NAMES),
    protocol: fc.constantFrom(...PROTOCOLS),
    port: fc.constantFrom(80, 53, 8443),
    nodePort: fc.constantFrom(0, 0, 30080, 30053),
  });
}

function policies(): fc.Arbitrary<object> {
  const policy = fc.constantFrom('Cluster', 'Local', undefined);
  return fc.record({ internal: policy, external: policy }).map(({ internal, external }) => ({
    ...(internal === undefined ? {} : { internalTrafficPolicy: internal }),
    ...(external === undefined ? {} : { externalTrafficPolicy: external }),
  }));
}

function affinity(): fc.Arbitrary<object> {
  const sticky = fc.constantFrom(1, 10800, 86400).map((timeoutSeconds) => ({
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds } },
  }));
  return fc.oneof(fc.constant({ sessionAffinity: 'None' }), sticky);
}

function sourceRanges(): fc.Arbitrary<readonly string[]> {
  const ranges = [
    '10.0.0.0/8',
    ' 172.30.2.0/24 ',
    'fd00:30::/64',
    '0.0.0.0/0',
    '::/0',
    '192.0.2.1/32',
    'no range',
  ];
  return fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.subarray(ranges));
}

function ingress(number: number): fc.Arbitrary<object> {
  return fc
    .record({
      ip: fc.constantFrom(`198.18.1.${number}`, `fd00:18::1:${number}`, ''),
      ipMode: fc.constantFrom('VIP', 'Proxy', undefined),
      hostname: fc.constantFrom('lb.example', undefined),
    })
    .map((found) => JSON.parse(JSON.stringify(found)) as object);
}

function slice(): fc.Arbitrary<object> {
  // Hints count only if all have them, which independent endpoints hardly ever do.
  const hinting = fc.constantFrom<Hinting>('none', 'some', 'zones', 'nodes', 'both');
  return fc.tuple(fc.constantFrom(...FAMILIES), hinting).chain(([addressType, how]) =>
    fc.record({
      addressType: fc.constant(addressType),
      service: fc.constantFrom(...SERVICES, ...SERVICES, 'nobody', ''),
      ports: fc.array(slicePort(), { maxLength: 2 }),
      endpoints: fc.array(endpoint(addressType, how), { maxLength: 5 }),
    }),
  );
}

type Hinting = 'none' | 'some' | 'zones' | 'nodes' | 'both';

function slicePort(): fc.Arbitrary<object> {
  return fc.record({
    name: fc.constantFrom(...PORT_NAMES),
    protocol: fc.constantFrom(...PROTOCOLS),
    port: fc.constantFrom(8080, 8081, 9153),
  });
}

function endpoint(addressType: 'IPv4' | 'IPv6', hinting: Hinting): fc.Arbitrary<object> {
  const address = fc
    .nat(4)
    .map((host) => (addressType === 'IPv4' ? `10.244.0.${host + 1}` : `fd00:244::${host + 1}`));
  const flag = fc.constantFrom(true, true, false, undefined);
  return fc
    .record({
      address,
      nodeName: fc.constantFrom(...NODES, undefined),
      conditions: fc.record({ ready: flag, serving: flag, terminating: flag }),
      zones: hints({ key: 'forZones', names: ZONES, everyone: ['zones', 'both'] }, hinting),
      nodes: hints({ key: 'forNodes', names: NODES, everyone: ['nodes', 'both'] }, hinting),
    })
    .map(({ address: found, zones, nodes, ...rest }) => ({
      ...rest,
      addresses: [found],
      hints: { ...zones, ...nodes },
    }));
}

function hints(
  of: { key: string; names: readonly string[]; everyone: readonly Hinting[] },
  hinting: Hinting,
): fc.Arbitrary<object> {
  if (hinting !== 'some' && !of.everyone.includes(hinting)) return fc.constant({});
  const minLength = hinting === 'some' ? 0 : 1;
  return fc
    .subarray([...of.names], { minLength })
    .map((chosen) => ({ [of.key]: chosen.map((name) => ({ name })) }));
}

/** Undefined fields are absent ones: the same text goes to both sides. */
function named(found: object, name: string): object {
  const { service: owner, ...rest } = found as { service: string };
  const labels = owner === '' ? {} : { 'kubernetes.io/service-name': owner };
  const slice_ = { metadata: { namespace: 'ns', name, labels }, ...rest };
  return JSON.parse(JSON.stringify(slice_)) as object;
}
