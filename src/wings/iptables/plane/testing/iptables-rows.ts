import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import type {
  Endpoint,
  EndpointList,
  Family,
  Forwarding,
  Frontend,
  FrontendKind,
  Outcome,
  Protocol,
  SourceClass,
} from '../../../../forwarding/model.ts';
import type { Setting } from '../setting.ts';

export const FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.128.0.0/9' },
    IPv6: { by: 'cidr', cidr: 'fd00:128::/32' },
  },
  nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
  nodePortsOnLocalhost: true,
  serviceRanges: [],
  masqueradeMark: 0x4000,
};

export const SETTING: Setting = {
  facts: FACTS,
  abilities: { hasAccounts: true, dropsInvalid: true },
};

type Outcomes = Readonly<Record<SourceClass, Outcome>>;

const to = (list: EndpointList, masquerade: boolean): Outcome => ({
  action: 'forward',
  list,
  masquerade,
});

/** The results of policies. */
export const INTERNAL = (list: EndpointList): Outcomes => ({
  pod: to(list, false),
  host: to(list, true),
  outside: to(list, true),
});
export const EXTERNAL: Outcomes = {
  pod: to('cluster', true),
  host: to('cluster', true),
  outside: to('cluster', true),
};
const EXTERNAL_LOCAL = (outside: Outcome): Outcomes => ({
  pod: to('cluster', false),
  host: to('cluster', true),
  outside,
});
const LOCAL: Outcome = to('local', false);
const DROP: Outcome = { action: 'drop' };
const REJECT: Outcome = { action: 'reject' };
export const NOBODY: Outcomes = { pod: REJECT, host: REJECT, outside: REJECT };
const NOBODY_HERE: Outcomes = { pod: DROP, host: DROP, outside: DROP };

export function frontend(
  kind: FrontendKind,
  at: { address?: string; port: number; allowedSources?: readonly string[] },
  outcomes: Outcomes,
): Frontend {
  const { address = '', port, allowedSources } = at;
  return { kind, address, port, outcomes, ...(allowedSources ? { allowedSources } : {}) };
}

export interface RowSketch {
  readonly name: string;
  readonly port?: string;
  readonly protocol?: Protocol;
  readonly family?: Family;
  readonly frontends: readonly Frontend[];
  /** `address:port`; those of this node with a star in front. */
  readonly endpoints?: readonly string[];
  readonly affinitySeconds?: number;
  readonly healthCheckPort?: number;
  /** The lists that are used; both when not given. */
  readonly lists?: readonly EndpointList[];
}

export function row(sketch: RowSketch): Forwarding {
  const {
    name,
    port = '',
    protocol = 'TCP',
    family = 'IPv4',
    lists = ['cluster', 'local'],
  } = sketch;
  const all = (sketch.endpoints ?? []).map(endpoint);
  return {
    id: { namespace: 't', service: name, port, protocol, family },
    frontends: sketch.frontends,
    clusterEndpoints: lists.includes('cluster') ? all : [],
    localEndpoints: lists.includes('local') ? all.filter(({ local }) => local) : [],
    affinitySeconds: sketch.affinitySeconds ?? 0,
    ...(sketch.healthCheckPort === undefined ? {} : { healthCheckPort: sketch.healthCheckPort }),
  };
}

function endpoint(text: string): Endpoint {
  const local = text.startsWith('*');
  const at = text.lastIndexOf(':');
  const address = text.slice(local ? 1 : 0, at).replace(/^\[|\]$/g, '');
  return { address, port: Number(text.slice(at + 1)), local };
}

const SOURCES = [
  '203.0.113.0/24',
  '172.16.0.0/12',
  '10.0.0.0/8',
  '198.51.100.1/32',
  '198.51.100.2/32',
];

function balanced(port: number, outside: Outcome): Frontend[] {
  const outcomes = EXTERNAL_LOCAL(outside);
  const balancer = (address: string) =>
    frontend('load-balancer-ip', { address, port, allowedSources: SOURCES }, outcomes);
  return [
    frontend('external-ip', { address: '192.0.2.9', port }, outcomes),
    balancer('198.51.100.1'),
    balancer('198.51.100.2'),
    frontend('node-port', { port: port === 80 ? 30779 : 30780 }, outcomes),
  ];
}

/** The rows of the objects that upstream wrote `testdata/` for. */
export function upstreamRows(): Forwarding[] {
  const cluster = ['cluster'] as const;
  const sticky = { affinitySeconds: 10800, lists: cluster };
  const at = (address: string, port: number) =>
    frontend('cluster-ip', { address, port }, INTERNAL('cluster'));
  const six = 'fd00:96::6:1840';
  return [
    row({
      name: 'plain',
      lists: cluster,
      frontends: [at('10.96.77.1', 80)],
      endpoints: ['10.200.0.10:8080', '*10.200.0.1:8080', '10.200.0.2:8080'],
    }),
    row({
      name: 'sticky',
      port: 'web',
      ...sticky,
      frontends: [at('10.96.77.2', 80), frontend('node-port', { port: 30777 }, EXTERNAL)],
      endpoints: ['*10.200.0.1:8080', '10.200.0.2:8080'],
    }),
    row({
      name: 'sticky',
      port: 'dns',
      protocol: 'UDP',
      ...sticky,
      frontends: [at('10.96.77.2', 53), frontend('node-port', { port: 30778 }, EXTERNAL)],
      endpoints: ['*10.200.0.1:53', '10.200.0.2:53'],
    }),
    row({
      name: 'lb',
      port: 'web',
      healthCheckPort: 30781,
      frontends: [
        frontend('cluster-ip', { address: '10.96.77.3', port: 80 }, INTERNAL('local')),
        ...balanced(80, LOCAL),
      ],
      endpoints: ['*10.200.0.1:8080', '10.200.0.2:8080'],
    }),
    row({
      name: 'lb',
      port: 'other',
      healthCheckPort: 30781,
      frontends: [
        frontend('cluster-ip', { address: '10.96.77.3', port: 81 }, NOBODY_HERE),
        ...balanced(81, DROP),
      ],
      endpoints: ['10.200.0.2:8081'],
    }),
    row({
      name: 'sctp',
      protocol: 'SCTP',
      lists: cluster,
      frontends: [
        at('10.96.77.4', 80),
        frontend('external-ip', { address: '192.0.2.10', port: 80 }, EXTERNAL),
        frontend('node-port', { port: 30792 }, EXTERNAL),
      ],
      endpoints: ['*10.200.0.1:8080'],
    }),
    row({
      name: 'six',
      port: 'web',
      family: 'IPv6',
      ...sticky,
      frontends: [
        at(six, 80),
        frontend('external-ip', { address: '2001:db8::9', port: 80 }, EXTERNAL),
        frontend('node-port', { port: 30790 }, EXTERNAL),
      ],
      endpoints: ['*[fd00:200::1]:8080', '[fd00:200::2]:8080'],
    }),
    row({
      name: 'six',
      port: 'none',
      family: 'IPv6',
      affinitySeconds: 10800,
      frontends: [
        frontend('cluster-ip', { address: six, port: 81 }, NOBODY),
        frontend('external-ip', { address: '2001:db8::9', port: 81 }, NOBODY),
        frontend('node-port', { port: 30791 }, NOBODY),
      ],
    }),
  ];
}
