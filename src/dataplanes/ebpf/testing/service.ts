import type {
  Endpoint,
  Family,
  Forwarding,
  Frontend,
  FrontendKind,
  Outcome,
  Protocol,
  SourceClass,
} from '../../../forwarding/model.ts';
import { SERVED_PORT } from '../../../linux/testing/hosts/host.ts';

export const TO_CLUSTER: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
export const MASQUERADED: Outcome = { action: 'forward', list: 'cluster', masquerade: true };

/** An address of a Service; node ports have none. */
export function frontendAt(
  address: string,
  of: {
    readonly kind?: FrontendKind;
    readonly port?: number;
    readonly allowedSources?: readonly string[];
    readonly outcomes?: Partial<Record<SourceClass, Outcome>>;
  } = {},
): Frontend {
  const { kind = 'cluster-ip', port = 80, allowedSources, outcomes = {} } = of;
  return {
    kind,
    address,
    port,
    outcomes: { pod: TO_CLUSTER, host: TO_CLUSTER, outside: MASQUERADED, ...outcomes },
    ...(allowedSources ? { allowedSources } : {}),
  };
}

/** A Service whose endpoints are all of this node; its family is that of the first address. */
export function serviceOf(
  service: string,
  of: {
    readonly frontends: readonly Frontend[];
    /** Addresses: all hosts of a test serve at the same port. */
    readonly endpoints: readonly string[];
    readonly protocol?: Protocol;
    readonly affinitySeconds?: number;
  },
): Forwarding {
  const { frontends, endpoints, protocol = 'TCP', affinitySeconds = 0 } = of;
  const text = endpoints[0] ?? frontends[0]?.address ?? '';
  const family: Family = text.includes(':') ? 'IPv6' : 'IPv4';
  const clusterEndpoints = endpoints.map(
    (address): Endpoint => ({ address, port: SERVED_PORT, local: true }),
  );
  return {
    id: { namespace: 'ns', service, port: '', protocol, family },
    frontends,
    clusterEndpoints,
    localEndpoints: clusterEndpoints,
    affinitySeconds,
  };
}
