import { endpointKey } from '../../../forwarding/endpoints.ts';
import type {
  Endpoint,
  EndpointList,
  Family,
  Forwarding,
  Frontend,
  Outcome,
  Protocol,
  SourceClass,
} from '../../../forwarding/model.ts';
import type { NodeFacts } from '../../contract.ts';

/** A row in few numbers, so that a test can draw many and see at once what two have in common. */
export interface RowRecipe {
  /** Which Service: its name and its addresses follow from it. */
  readonly number: number;
  readonly family: Family;
  readonly protocol: Protocol;
  readonly shape: Shape;
  readonly endpointCount: number;
  readonly localCount: number;
  readonly affinitySeconds: number;
  readonly allowedSources?: readonly string[];
}

export const SHAPES = ['cluster', 'local', 'internal-local', 'no-endpoints', 'none-here'] as const;
export type Shape = (typeof SHAPES)[number];

type Outcomes = Readonly<Record<SourceClass, Outcome>>;

const to = (list: EndpointList, masquerade: boolean): Outcome => ({
  action: 'forward',
  list,
  masquerade,
});
const everybody = (outcome: Outcome): Outcomes => ({
  pod: outcome,
  host: outcome,
  outside: outcome,
});
const REJECT: Outcome = { action: 'reject' };
const DROP: Outcome = { action: 'drop' };
const UNLESS_POD = (list: EndpointList): Outcomes => ({
  pod: to(list, false),
  host: to(list, true),
  outside: to(list, true),
});
const SHORT_CIRCUIT = (outside: Outcome): Outcomes => ({
  pod: to('cluster', false),
  host: to('cluster', true),
  outside,
});

const OUTCOMES: Readonly<Record<Shape, { inside: Outcomes; outside: Outcomes }>> = {
  cluster: { inside: UNLESS_POD('cluster'), outside: everybody(to('cluster', true)) },
  local: { inside: UNLESS_POD('cluster'), outside: SHORT_CIRCUIT(to('local', false)) },
  'internal-local': { inside: UNLESS_POD('local'), outside: everybody(to('cluster', true)) },
  'no-endpoints': { inside: everybody(REJECT), outside: everybody(REJECT) },
  'none-here': { inside: everybody(DROP), outside: SHORT_CIRCUIT(DROP) },
};

export function rowOf(recipe: RowRecipe): Forwarding {
  const { number, family, shape } = recipe;
  const isEmpty = shape === 'no-endpoints' || recipe.endpointCount === 0;
  const hasLocal = shape === 'local' || shape === 'internal-local';
  const localCount = hasLocal ? Math.max(1, recipe.localCount) : 0;
  const local = isEmpty ? [] : endpoints(family, { count: localCount, isLocal: true }).sort(byKey);
  const far = isEmpty ? [] : endpoints(family, { count: recipe.endpointCount, isLocal: false });
  const outcomes = OUTCOMES[isEmpty ? 'no-endpoints' : shape];
  return {
    id: {
      namespace: 'ns',
      service: `service-${number}`,
      port: number % 2 === 0 ? 'http' : '',
      protocol: recipe.protocol,
      family,
    },
    frontends: frontends(recipe, outcomes),
    clusterEndpoints: [...local, ...far].sort(byKey),
    localEndpoints: local,
    affinitySeconds: recipe.affinitySeconds,
  };
}

/** As the model has them. */
function byKey(a: Endpoint, b: Endpoint): number {
  return endpointKey(a) < endpointKey(b) ? -1 : 1;
}

function frontends(
  { number, family, allowedSources }: RowRecipe,
  outcomes: { inside: Outcomes; outside: Outcomes },
): Frontend[] {
  const address = (v4: string, v6: string) => (family === 'IPv4' ? v4 : v6) + (number + 1);
  return [
    {
      kind: 'cluster-ip',
      address: address('10.96.0.', 'fd00:96::'),
      port: 80,
      outcomes: outcomes.inside,
    },
    {
      kind: 'load-balancer-ip',
      address: address('203.0.113.', '2001:db8::'),
      port: 80,
      outcomes: outcomes.outside,
      ...(allowedSources === undefined ? {} : { allowedSources }),
    },
    { kind: 'node-port', address: '', port: 30000 + number, outcomes: outcomes.outside },
  ];
}

function endpoints(family: Family, wanted: { count: number; isLocal: boolean }): Endpoint[] {
  const [v4, v6] = wanted.isLocal ? ['10.244.0.', 'fd00:244::'] : ['10.244.1.', 'fd00:244:1::'];
  return Array.from({ length: wanted.count }, (_, index) => ({
    address: `${family === 'IPv4' ? v4 : v6}${index + 1}`,
    port: 8080,
    local: wanted.isLocal,
  }));
}

export const PLAIN_RECIPE: RowRecipe = {
  number: 1,
  family: 'IPv4',
  protocol: 'TCP',
  shape: 'cluster',
  endpointCount: 3,
  localCount: 1,
  affinitySeconds: 0,
};

export function row(more: Partial<RowRecipe> = {}): Forwarding {
  return rowOf({ ...PLAIN_RECIPE, ...more });
}

/** Rows that between them use every set and every treatment. */
export function exampleRows(): readonly Forwarding[] {
  const families: readonly Family[] = ['IPv4', 'IPv6'];
  return families.flatMap((family) => {
    const allowedSources =
      family === 'IPv4' ? ['172.16.0.0/12', '192.168.60.2/32'] : ['2001:db8:9::/48'];
    return [
      row({ family, number: 1 }),
      row({ family, number: 2, shape: 'local', allowedSources }),
      row({ family, number: 3, shape: 'local', affinitySeconds: 10_800, localCount: 2 }),
      row({ family, number: 4, shape: 'no-endpoints', protocol: 'UDP' }),
      row({ family, number: 5, shape: 'none-here', protocol: 'SCTP', allowedSources }),
      row({ family, number: 6, shape: 'internal-local', affinitySeconds: 90 }),
    ];
  });
}

export const FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'interface-prefix', prefix: 'veth' },
  },
  nodePortAddresses: { IPv4: ['192.168.50.1'], IPv6: 'all' },
  serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'],
  masqueradeMark: 0x4000,
};
