import {
  type Family,
  type Forwarding,
  type Protocol,
  servicePortName,
} from '../../forwarding/model.ts';

/** A served address and port, with its Service. */
export interface ServedFrontend {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
  /** Absent for a node port. */
  readonly address?: string;
  readonly port: number;
}

export function servedFrontends(rows: readonly Forwarding[]): ServedFrontend[] {
  return rows.flatMap(({ id, frontends }) => {
    const served = frontends.filter(({ notServed }) => notServed === undefined);
    return served.map(({ kind, address, port }) => ({
      service: servicePortName(id),
      protocol: id.protocol,
      family: id.family,
      ...(kind === 'node-port' ? {} : { address }),
      port,
    }));
  });
}
