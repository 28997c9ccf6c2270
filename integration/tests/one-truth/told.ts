import type { SourceClass } from '../../../src/forwarding/model.ts';

/** What becomes of a connection, by whichever way it was found out. */
export interface Told {
  readonly action: 'forward' | 'reject' | 'drop' | 'nothing';
  /** Sorted. */
  readonly endpoints: readonly string[];
  readonly masquerade: boolean;
}

export const NOTHING: Told = { action: 'nothing', endpoints: [], masquerade: false };

interface OutcomeData {
  readonly action: 'forward' | 'reject' | 'drop';
  readonly list?: 'cluster' | 'local';
  readonly masquerade?: boolean;
}

interface EndpointData {
  readonly address: string;
  readonly port: number;
}

/** A frontend in the JSON of `services` and of `render`. */
export interface FrontendData {
  readonly kind: string;
  readonly at: string;
  readonly notServed?: object;
  readonly allowedSources?: readonly string[];
  /** For a node port. */
  readonly nodeAddresses?: 'all' | readonly string[];
  readonly outcomes: Readonly<Record<SourceClass, OutcomeData>>;
  /** Of `render` only. */
  readonly path: readonly string[];
  readonly elements?: readonly {
    readonly set: string;
    readonly text: string;
    readonly does?: string;
    readonly leadsTo?: string;
  }[];
}

/** A service port in the JSON of `services` and of `render`. */
export interface RowData {
  readonly key: string;
  readonly protocol: string;
  readonly frontends: readonly FrontendData[];
  readonly clusterEndpoints: readonly EndpointData[];
  readonly localEndpoints: readonly EndpointData[];
  /** Of `render` only. */
  readonly chains: readonly {
    readonly name: string;
    readonly rules: readonly { readonly text: string }[];
  }[];
}

/** What `services` says of a frontend. */
export function toldByServices(
  row: RowData,
  { notServed, outcomes }: FrontendData,
  source: SourceClass,
): Told {
  if (notServed) return NOTHING;
  const { action, list, masquerade = false } = outcomes[source];
  if (action !== 'forward') return { ...NOTHING, action };
  const chosen = list === 'local' ? row.localEndpoints : row.clusterEndpoints;
  return { action, endpoints: chosen.map(endpointText).sort(), masquerade };
}

function endpointText({ address, port }: EndpointData): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
