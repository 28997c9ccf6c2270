import type { Family, Forwarding, Protocol } from '../forwarding/model.ts';

export interface NodePort {
  readonly family: Family;
  readonly protocol: Protocol;
  readonly port: number;
  /** `namespace/name`. */
  readonly service: string;
}

/** The node ports that are served. */
export function nodePortsOf(rows: readonly Forwarding[]): readonly NodePort[] {
  return rows.flatMap(({ id: { family, protocol, namespace, service }, frontends }) =>
    frontends
      .filter(({ kind, notServed }) => kind === 'node-port' && notServed === undefined)
      .map(({ port }) => ({ family, protocol, port, service: `${namespace}/${service}` })),
  );
}
