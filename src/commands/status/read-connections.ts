import { readTranslated } from '../../flows/translated.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import { NetlinkError } from '../../linux/netlink/errors.ts';
import { unseenConnectionsIn } from '../../modes/registry.ts';
import { CommandError } from '../command-error.ts';
import { connectionOf } from './connection.ts';
import type { Connections } from './connections-view.ts';
import type { ServedFrontend } from './served-frontends.ts';

export interface ConnectionsWanted {
  /** Only of this Service or service port. */
  readonly service?: string;
  /** Most connections to return. */
  readonly most: number;
  readonly mode: string;
}

const EPERM = 'EPERM';

/** Reads conntrack of this network namespace; the agent has the Service of each address. */
export async function readConnections(
  frontends: readonly ServedFrontend[],
  { service, most, mode }: ConnectionsWanted,
  reading: { readonly conntrack: Conntrack; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<Connections> {
  const { conntrack, nowMs, signal } = reading;
  const own = service === undefined ? frontends : frontends.filter((each) => isOf(each, service));
  if (service !== undefined && own.length === 0) throw unknownService(service);
  try {
    const { first, count } = await readTranslated(conntrack, { frontends: own, most, signal });
    const connections = first.map((each) => connectionOf(each, nowMs));
    const unseen = unseenConnectionsIn(mode);
    return { connections, count, ...(unseen === undefined ? {} : { unseen }) };
  } catch (error) {
    throw error instanceof NetlinkError && error.code === EPERM ? notPermitted(error) : error;
  }
}

/** `shop/web` matches all of its ports, `shop/web:http` one. */
function isOf({ service }: ServedFrontend, wanted: string): boolean {
  return service === wanted || service.startsWith(`${wanted}:`);
}

function unknownService(service: string): CommandError {
  return new CommandError(`this node serves no address of the Service ${service}`, {
    code: 'SERVICE_UNKNOWN',
    next: 'pass NAMESPACE/NAME or NAMESPACE/NAME:PORT; `fairlead services` lists them',
  });
}

function notPermitted(cause: unknown): CommandError {
  return new CommandError('cannot read conntrack: this process lacks CAP_NET_ADMIN', {
    code: 'NOT_PERMITTED',
    next: 'run the command with sudo',
    cause,
  });
}
