import { endpointKey } from '../forwarding/endpoints.ts';
import type { Forwarding, Frontend, ServicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/row-changes.ts';

/** What a change means for connections that are open. */
export interface OpenCounts {
  /** Their endpoint goes on to get new ones. */
  readonly stay: number;
  /** Their endpoint gets no new ones, and still serves those that it has. */
  readonly drain: number;
  /** Their endpoint, or the address that they were opened to, is no longer there. */
  readonly lose: number;
}

/** An open connection of a row that changes. */
export interface OpenConnection {
  readonly row: ServicePortKey;
  /** As the client used it; at a node port an address of the node. */
  readonly at: { readonly address: string; readonly port: number };
  readonly endpoint: { readonly address: string; readonly port: number };
}

/** Whether an endpoint of a row still serves after the change, whether it gets new ones or not. */
export type IsServing = (
  id: Forwarding['id'],
  endpoint: { readonly address: string; readonly port: number },
) => boolean;

/** Counts the open connections of rows that change, one after the other. */
export class OpenTally {
  readonly #after: ReadonlyMap<ServicePortKey, Remaining | undefined>;
  readonly #counts = new Map<ServicePortKey, { stay: number; drain: number; lose: number }>();

  constructor(changes: readonly Change[], isServing: IsServing) {
    this.#after = new Map(
      changes.map(({ key, after }) => [key, after && remainingOf(after, isServing)]),
    );
  }

  add({ row, at, endpoint }: OpenConnection): void {
    if (!this.#after.has(row)) return;
    const counts = this.#counts.get(row) ?? { stay: 0, drain: 0, lose: 0 };
    counts[fateOf(this.#after.get(row), at, endpoint)] += 1;
    this.#counts.set(row, counts);
  }

  /** Of one row. */
  of(row: ServicePortKey): OpenCounts {
    return this.#counts.get(row) ?? NONE;
  }

  get total(): OpenCounts {
    return [...this.#counts.values()].reduce(
      (sum, { stay, drain, lose }) => ({
        stay: sum.stay + stay,
        drain: sum.drain + drain,
        lose: sum.lose + lose,
      }),
      NONE,
    );
  }
}

const NONE: OpenCounts = { stay: 0, drain: 0, lose: 0 };

/** What there is of a row after the change. */
interface Remaining {
  readonly addresses: ReadonlySet<string>;
  readonly nodePorts: ReadonlySet<number>;
  readonly endpoints: ReadonlySet<string>;
  readonly isServing: (endpoint: OpenConnection['endpoint']) => boolean;
}

function remainingOf(row: Forwarding, isServing: IsServing): Remaining {
  const served = row.frontends.filter(({ notServed }) => notServed === undefined);
  const isNodePort = ({ kind }: Frontend): boolean => kind === 'node-port';
  const lists = [...row.clusterEndpoints, ...row.localEndpoints];
  return {
    addresses: new Set(served.filter((each) => !isNodePort(each)).map(endpointKey)),
    nodePorts: new Set(served.filter(isNodePort).map(({ port }) => port)),
    endpoints: new Set(lists.map(endpointKey)),
    isServing: (endpoint) => isServing(row.id, endpoint),
  };
}

function fateOf(
  after: Remaining | undefined,
  at: OpenConnection['at'],
  endpoint: OpenConnection['endpoint'],
): keyof OpenCounts {
  if (after === undefined) return 'lose';
  const hasAddress = after.addresses.has(endpointKey(at)) || after.nodePorts.has(at.port);
  if (!hasAddress) return 'lose';
  if (after.endpoints.has(endpointKey(endpoint))) return 'stay';
  return after.isServing(endpoint) ? 'drain' : 'lose';
}
