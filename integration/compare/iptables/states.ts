import fc from 'fast-check';

/** Objects of one namespace, as the API server takes them; it draws addresses and node ports. */
export interface NamespaceState {
  readonly services: readonly ServiceDraft[];
  readonly slices: readonly object[];
}

export interface ServiceDraft {
  readonly object: { readonly metadata: { readonly name: string }; readonly spec: object };
  /** Addresses of its load balancer, for the status. */
  readonly ingress: readonly { ip: string; ipMode?: string }[];
}

const SERVICES = ['web', 'dns'] as const;
const PORT_NAMES = ['http', 'admin', 'data'] as const;
/** Mostly one, or ports and endpoints would hardly ever meet. */
const PROTOCOLS = ['TCP', 'TCP', 'TCP', 'TCP', 'UDP', 'SCTP'] as const;
const NODES = ['node1', 'node2', 'elsewhere'] as const;
const ZONES = ['zone-a', 'zone-b'] as const;
/** More would let a batch of namespaces reach the size from which upstream leaves comments out. */
const SLICES = [0, 1, 2] as const;
const MOST_ENDPOINTS = 4;

/** `number`: which namespace; addresses follow from it, so that no two Services want the same. */
export function namespaceStates(number: number): fc.Arbitrary<NamespaceState> {
  return fc.record({
    services: fc.tuple(...SERVICES.map((name, index) => service(name, number * 2 + index))),
    slices: fc
      .tuple(...SLICES.map((index) => fc.option(slice(number + 1, index), { nil: undefined })))
      .map((slices) => slices.filter((found) => found !== undefined)),
  });
}

function service(name: string, serial: number): fc.Arbitrary<ServiceDraft> {
  return fc
    .record({
      families: fc.constantFrom(['IPv4', 'IPv6'], ['IPv6', 'IPv4'], ['IPv4'], ['IPv6']),
      type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'LoadBalancer'),
      ports: fc.uniqueArray(servicePort(), {
        minLength: 1,
        maxLength: 3,
        selector: ({ name: portName }) => portName,
      }),
      internal: fc.constantFrom('Cluster', 'Cluster', 'Local'),
      external: fc.constantFrom('Cluster', 'Local'),
      sticky: fc.constantFrom(0, 0, 1, 10800, 86400),
      externals: fc.nat(2),
      balancers: fc.nat(2),
      ipMode: fc.constantFrom('VIP', 'VIP', 'Proxy'),
      ranges: fc.constantFrom<readonly string[]>([], [], ...RANGES),
    })
    .map((drawn) => draft(name, serial, drawn));
}

/** Of both families, or upstream opens the one that has none; in the order that people write. */
const RANGES: readonly (readonly string[])[] = [
  ['203.0.113.0/24', '10.0.0.0/8', 'fd00:30::/64', 'fd00:99::/64'],
  ['172.30.0.0/16', '198.51.100.7/32', 'fd00:30::/32'],
  ['0.0.0.0/0', '::/0'],
];

interface Drawn {
  readonly families: readonly string[];
  readonly type: string;
  readonly ports: readonly object[];
  readonly internal: string;
  readonly external: string;
  readonly sticky: number;
  readonly externals: number;
  readonly balancers: number;
  readonly ipMode: string;
  readonly ranges: readonly string[];
}

function draft(name: string, serial: number, drawn: Drawn): ServiceDraft {
  const isBalanced = drawn.type === 'LoadBalancer';
  const externalIPs = addresses(drawn, {
    count: drawn.externals,
    v4: '198.18',
    v6: 'fd00:18',
    serial,
  });
  const isExternal = drawn.type !== 'ClusterIP' || externalIPs.length > 0;
  return {
    object: {
      metadata: { name },
      spec: {
        type: drawn.type,
        ipFamilyPolicy: drawn.families.length === 2 ? 'RequireDualStack' : 'SingleStack',
        ipFamilies: drawn.families,
        ports: drawn.ports,
        internalTrafficPolicy: drawn.internal,
        ...(isExternal ? { externalTrafficPolicy: drawn.external } : {}),
        ...(drawn.sticky === 0
          ? {}
          : {
              sessionAffinity: 'ClientIP',
              sessionAffinityConfig: { clientIP: { timeoutSeconds: drawn.sticky } },
            }),
        externalIPs,
        ...(isBalanced ? { loadBalancerSourceRanges: drawn.ranges } : {}),
      },
    },
    ingress: isBalanced
      ? addresses(drawn, { count: drawn.balancers, v4: '198.19', v6: 'fd00:19', serial }).map(
          (ip) => ({ ip, ipMode: drawn.ipMode }),
        )
      : [],
  };
}

function addresses(
  { families }: Drawn,
  of: { count: number; v4: string; v6: string; serial: number },
): string[] {
  const numbers = Array.from({ length: of.count }, (_, index) => index + 1);
  return families.flatMap((family) =>
    numbers.map((number) =>
      family === 'IPv4'
        ? `${of.v4}.${of.serial % 250}.${number}`
        : `${of.v6}::${of.serial.toString(16)}:${number}`,
    ),
  );
}

function servicePort(): fc.Arbitrary<{ name: string; port: number; protocol: string }> {
  return fc.constantFrom(...PORT_NAMES).chain((name) =>
    fc.record({
      name: fc.constant(name),
      // A number of its own for each name: the API takes no two ports of one number.
      port: fc.constant(8000 + PORT_NAMES.indexOf(name)),
      protocol: fc.constantFrom(...PROTOCOLS),
    }),
  );
}

/**
 * No address is in two slices, nor twice in one: of two endpoints that do not terminate upstream
 * takes the one that it happens to see last, and that is not the same in each run.
 */
function slice(number: number, index: number): fc.Arbitrary<object> {
  return fc
    .record({
      addressType: fc.constantFrom('IPv4', 'IPv6'),
      service: fc.constantFrom(...SERVICES),
      protocols: fc.tuple(fc.constantFrom(...PROTOCOLS), fc.constantFrom(...PROTOCOLS)),
      hints: fc.constantFrom('none', 'none', 'zones', 'nodes'),
      endpoints: fc.uniqueArray(endpoint(), {
        maxLength: MOST_ENDPOINTS,
        selector: ({ host }) => host,
      }),
    })
    .map(({ addressType, service: owner, protocols, hints, endpoints }) => ({
      metadata: { name: `slice-${index}`, labels: { 'kubernetes.io/service-name': owner } },
      addressType,
      ports: protocols.map((protocol, place) => ({
        name: PORT_NAMES[place],
        protocol,
        port: 9000 + place,
      })),
      endpoints: endpoints.map(({ host, conditions, nodeName, hinted }) => ({
        addresses: [
          addressType === 'IPv4'
            ? `10.200.${number % 250}.${10 * index + host}`
            : `fd00:200::${number}:${10 * index + host}`,
        ],
        nodeName,
        conditions,
        ...(hints === 'zones' ? { hints: { forZones: [{ name: ZONES[hinted % 2] }] } } : {}),
        ...(hints === 'nodes' ? { hints: { forNodes: [{ name: NODES[hinted] }] } } : {}),
      })),
    }));
}

function endpoint() {
  const flag = fc.constantFrom(true, true, true, false);
  return fc.record({
    host: fc.integer({ min: 1, max: 9 }),
    nodeName: fc.constantFrom(...NODES),
    hinted: fc.nat(2),
    conditions: fc.record({ ready: flag, serving: flag, terminating: fc.boolean() }),
  });
}
