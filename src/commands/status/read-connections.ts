import { PlaneError } from '../../dataplanes/contract.ts';
import { readTranslated } from '../../flows/translated.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import { NetlinkError } from '../../linux/netlink/netlink-error.ts';
import type { CopiedConnections } from '../../modes/copied-connections.ts';
import { CommandError } from '../command-error.ts';
import type { Connections } from './connections-view.ts';
import type { ServedFrontend } from './served-frontends.ts';
import { type CopiedConnection, connectionOf, copiedConnectionOf } from './shown-connection.ts';

export interface ConnectionsWanted {
  /** Only of this Service or service port. */
  readonly service?: string;
  /** Most connections to return. */
  readonly most: number;
}

export interface ConnectionSources {
  readonly conntrack: Conntrack;
  /** Undefined: the mode has none. */
  readonly forwarder?: { readonly copied: CopiedConnections; readonly runFolder: string };
  /** Connections of the mode that no conntrack entry shows. */
  readonly unseen: string | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

const EPERM = 'EPERM';

/** Reads conntrack of this network namespace; the agent has the Service of each address. */
export async function readConnections(
  frontends: readonly ServedFrontend[],
  { service, most }: ConnectionsWanted,
  reading: ConnectionSources,
): Promise<Connections> {
  const { conntrack, nowMs, signal, forwarder, unseen } = reading;
  const own = service === undefined ? frontends : frontends.filter((each) => isOf(each, service));
  if (service !== undefined && own.length === 0) throw unknownService(service);
  try {
    const copied = forwarder && (await readCopied(forwarder, { service, most, signal }));
    const { first, count } = await readTranslated(conntrack, {
      frontends: own,
      most: Math.max(0, most - (copied?.connections.length ?? 0)),
      signal,
      ...(forwarder ? { except: forwarder.copied.addresses } : {}),
    });
    const connections = first.map((each) => connectionOf(each, nowMs));
    return {
      connections,
      count,
      ...(copied ? { copied } : {}),
      ...(unseen === undefined ? {} : { unseen }),
    };
  } catch (error) {
    throw error instanceof NetlinkError && error.code === EPERM ? notPermitted(error) : error;
  }
}

interface CopiedWanted {
  readonly service: string | undefined;
  readonly most: number;
  readonly signal: AbortSignal;
}

/** Those of the kernel are shown in any case. */
async function readCopied(
  from: NonNullable<ConnectionSources['forwarder']>,
  wanted: CopiedWanted,
): Promise<NonNullable<Connections['copied']>> {
  try {
    return await copiedOf(from, wanted);
  } catch (error) {
    if (!(error instanceof PlaneError)) throw error;
    return { connections: [], count: 0, problem: error.message };
  }
}

/** Sorted like those of the kernel. Without a forwarder there are none. */
async function copiedOf(
  { copied, runFolder }: NonNullable<ConnectionSources['forwarder']>,
  { service, most, signal }: CopiedWanted,
): Promise<NonNullable<Connections['copied']>> {
  // Only the first ones of a Service are shown, but the forwarder knows no Service by its name.
  const asked = service === undefined ? Math.min(most, ALL) : ALL;
  const found = await copied.read({ runFolder, most: asked, signal });
  const all = (found?.first ?? []).map(copiedConnectionOf);
  if (service === undefined) {
    return { connections: all.toSorted(inOrder), count: found?.count ?? 0 };
  }
  const own = all.filter((each) => isOf(each, service)).toSorted(inOrder);
  return { connections: own.slice(0, most), count: own.length };
}

const ALL = Number.MAX_SAFE_INTEGER;

function inOrder(a: CopiedConnection, b: CopiedConnection): number {
  const key = ({ service, address, client }: CopiedConnection) => `${service} ${address} ${client}`;
  return key(a) < key(b) ? -1 : 1;
}

/** `shop/web` matches all of its ports, `shop/web:http` one. */
function isOf({ service }: { readonly service: string }, wanted: string): boolean {
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
