import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import type {
  Endpoint,
  Forwarding,
  Frontend,
  Outcome,
  Protocol,
} from '../../../../forwarding/model.ts';

const TO_CLUSTER: Outcome = { action: 'forward', list: 'cluster', masquerade: false };

export const FACTS: NodeFacts = {
  podDetection: { IPv4: { by: 'cidr', cidr: '10.244.0.0/16' }, IPv6: undefined },
  nodePortAddresses: { IPv4: ['192.0.2.1'], IPv6: 'all' },
  serviceRanges: ['10.96.0.0/16'],
  masqueradeMark: 0x4000,
};

export function clusterIp(address: string, more: Partial<Frontend> = {}): Frontend {
  const outcomes = { pod: TO_CLUSTER, host: TO_CLUSTER, outside: TO_CLUSTER };
  return { kind: 'cluster-ip', address, port: 80, outcomes, ...more };
}

export function rowOf(
  service: string,
  parts: {
    readonly frontends: readonly Frontend[];
    readonly endpoints: readonly string[];
    readonly protocol?: Protocol;
    readonly affinitySeconds?: number;
  },
): Forwarding {
  const id = {
    namespace: 'ns',
    service,
    port: '',
    protocol: parts.protocol ?? 'TCP',
    family: 'IPv4',
  } as const;
  return {
    id,
    frontends: parts.frontends,
    clusterEndpoints: parts.endpoints.map(endpointOf),
    localEndpoints: [],
    affinitySeconds: parts.affinitySeconds ?? 0,
  };
}

function endpointOf(text: string): Endpoint {
  const [address = '', port = ''] = text.split(':');
  return { address, port: Number(port), local: true };
}
