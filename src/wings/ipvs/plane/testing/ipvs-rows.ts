import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import type {
  Endpoint,
  EndpointList,
  Family,
  Forwarding,
  Frontend,
  Outcome,
  Protocol,
  SourceClass,
} from '../../../../forwarding/model.ts';

export const FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'cidr', cidr: 'fd00:244::/48' },
  },
  nodePortAddresses: { IPv4: ['192.168.50.1'], IPv6: 'all' },
  ownAddresses: ['127.0.0.1', '192.168.50.1', 'fd00:50::1', 'fd00:96::a'],
  serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'],
  masqueradeMark: 0x4000,
};

type Outcomes = Readonly<Record<SourceClass, Outcome>>;

export const to = (list: EndpointList, masquerade = false): Outcome => ({
  action: 'forward',
  list,
  masquerade,
});

export const everybody = (outcome: Outcome): Outcomes => ({
  pod: outcome,
  host: outcome,
  outside: outcome,
});

/** Outside goes to the endpoints of this node only. */
export const LOCAL_OUTSIDE: Outcomes = {
  pod: to('cluster'),
  host: to('cluster', true),
  outside: to('local'),
};

/** An endpoint of this node has an odd number. */
export function endpoint(number: number, family: Family = 'IPv4'): Endpoint {
  const address = family === 'IPv4' ? `10.244.1.${number}` : `fd00:244::${number.toString(16)}`;
  return { address, port: 8080, local: number % 2 === 1 };
}

export interface RowRecipe {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly family?: Family;
  readonly frontends?: readonly Frontend[];
  readonly endpoints?: readonly number[];
  readonly affinitySeconds?: number;
  readonly scheduler?: Forwarding['scheduler'];
}

export function clusterIp(number: number, more: Partial<Frontend> = {}): Frontend {
  const address = `10.96.0.${number}`;
  return { kind: 'cluster-ip', address, port: 80, outcomes: everybody(to('cluster')), ...more };
}

export function nodePort(port: number, more: Partial<Frontend> = {}): Frontend {
  const outcomes = everybody(to('cluster', true));
  return { kind: 'node-port', address: '', port, outcomes, ...more };
}

export function externalIp(address: string, port: number, more: Partial<Frontend> = {}): Frontend {
  return { kind: 'external-ip', address, port, outcomes: everybody(to('cluster', true)), ...more };
}

export function row(recipe: RowRecipe = {}): Forwarding {
  const { name = 'web', protocol = 'TCP', family = 'IPv4' } = recipe;
  const numbers = recipe.endpoints ?? [1, 2];
  const endpoints = numbers
    .map((number) => endpoint(number, family))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  return {
    id: { namespace: 'ns', service: name, port: '', protocol, family },
    frontends: recipe.frontends ?? [clusterIp(1)],
    clusterEndpoints: endpoints,
    localEndpoints: endpoints.filter(({ local }) => local),
    affinitySeconds: recipe.affinitySeconds ?? 0,
    ...(recipe.scheduler ? { scheduler: recipe.scheduler } : {}),
  };
}
