import {
  type Endpoint,
  type Forwarding,
  type Frontend,
  type Protocol,
  servicePortKey,
} from '../../forwarding/model.ts';
import type { Change } from '../../forwarding/table.ts';

const OUTCOME = { action: 'forward', list: 'cluster', masquerade: false } as const;
const OUTCOMES = { pod: OUTCOME, host: OUTCOME, outside: OUTCOME };

export interface RowSketch {
  readonly service: string;
  readonly protocol?: Protocol;
  readonly family?: 'IPv4' | 'IPv6';
  /** `address port`, or `node-port port`; with ` lost` behind it when an older Service has it. */
  readonly frontends: readonly string[];
  /** `address port`. */
  readonly endpoints: readonly string[];
  readonly localEndpoints?: readonly string[];
}

/** A row with what matters for flows. */
export function row(sketch: RowSketch): Forwarding {
  const { service, protocol = 'UDP', family = 'IPv4' } = sketch;
  return {
    id: { namespace: 'default', service, port: '', protocol, family },
    frontends: sketch.frontends.map(frontend),
    clusterEndpoints: sketch.endpoints.map(endpoint),
    localEndpoints: (sketch.localEndpoints ?? []).map(endpoint),
    affinitySeconds: 0,
  };
}

/** The change from one row to the next; undefined: no row. */
export function change(before: Forwarding | undefined, after: Forwarding | undefined): Change {
  const either = after ?? before;
  if (either === undefined) throw new Error('a change of nothing');
  return { key: servicePortKey(either.id), before, after };
}

function frontend(text: string): Frontend {
  const [where = '', port, lost] = text.split(' ');
  const isNodePort = where === 'node-port';
  return {
    kind: isNodePort ? 'node-port' : 'cluster-ip',
    address: isNodePort ? '' : where,
    port: Number(port),
    outcomes: OUTCOMES,
    ...(lost === undefined
      ? {}
      : { notServed: { reason: 'other-service' as const, service: 'default/older' } }),
  };
}

function endpoint(text: string): Endpoint {
  const [address = '', port] = text.split(' ');
  return { address, port: Number(port), local: false };
}
