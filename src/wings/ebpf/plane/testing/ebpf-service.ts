import type {
  Endpoint,
  Family,
  Forwarding,
  Frontend,
  FrontendKind,
  Outcome,
  Protocol,
  SourceClass,
} from '../../../../forwarding/model.ts';
import { SERVED_PORT } from '../../../../linux/testing/hosts/host.ts';

type Outcomes = Readonly<Record<SourceClass, Outcome>>;

const PLAIN: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
const MASQUERADED: Outcome = { action: 'forward', list: 'cluster', masquerade: true };
const TO_LOCAL: Outcome = { action: 'forward', list: 'local', masquerade: false };

/** A cluster IP: only pods keep their address. */
export const INTERNAL: Outcomes = { pod: PLAIN, host: MASQUERADED, outside: MASQUERADED };
/** External policy Local: outside clients keep their address. */
export const EXTERNAL_LOCAL: Outcomes = { pod: PLAIN, host: MASQUERADED, outside: TO_LOCAL };

export function everybody(outcome: Outcome): Outcomes {
  return { pod: outcome, host: outcome, outside: outcome };
}

/** An address of a Service; node ports have none. */
export function frontendAt(
  address: string,
  parts: {
    readonly kind?: FrontendKind;
    readonly port?: number;
    readonly allowedSources?: readonly string[];
    readonly outcomes?: Outcomes;
  } = {},
): Frontend {
  const { kind = 'cluster-ip', port = 80, allowedSources, outcomes = INTERNAL } = parts;
  return {
    kind,
    address,
    port,
    outcomes,
    ...(allowedSources ? { allowedSources } : {}),
  };
}

/** A Service whose endpoints are all on this node; its family is that of the first address. */
export function serviceOf(
  service: string,
  parts: {
    readonly frontends: readonly Frontend[];
    /** Addresses: all hosts of a test serve at the same port. */
    readonly endpoints: readonly string[];
    readonly protocol?: Protocol;
    readonly affinitySeconds?: number;
  },
): Forwarding {
  const { frontends, endpoints, protocol = 'TCP', affinitySeconds = 0 } = parts;
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
