import { setImmediate as turn } from 'node:timers/promises';
import { type Family, type Protocol, servicePortName } from '../forwarding/model.ts';
import type { ForwardingTable } from '../forwarding/table.ts';

/** One address and port that this node serves, and whose it is. */
export interface ServedFrontend {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
  /** Absent for a node port. */
  readonly address?: string;
  readonly port: number;
}

/** Fifty thousand Services take 200 ms to write down: changes must not wait for that. */
const SERVICES_AT_ONCE = 500;

/** Every frontend that is served, as JSON, in the order of the Services' names. */
export async function frontendsPage(
  table: Pick<ForwardingTable, 'serviceNames' | 'ofService'>,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const names = table.serviceNames();
  for (let from = 0; from < names.length; from += SERVICES_AT_ONCE) {
    const frontends = names.slice(from, from + SERVICES_AT_ONCE).flatMap((name) => {
      return servedOf(table, name);
    });
    const text = frontends.map((each) => JSON.stringify(each)).join(',');
    if (text !== '') pieces.push(Buffer.from(pieces.length === 0 ? text : `,${text}`));
    await turn();
  }
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')]);
}

function servedOf(table: Pick<ForwardingTable, 'ofService'>, name: string): ServedFrontend[] {
  return table.ofService(name).flatMap(({ id, frontends }) => {
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
