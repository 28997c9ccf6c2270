import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { isLoopbackIp } from '../../addresses/loopback.ts';
import type { Family, Forwarding, Frontend, Protocol } from '../model.ts';
import { familyOf } from './connection-source.ts';
import { isOwnAddress, type Place } from './place.ts';

/** Where a connection is sent to. */
export interface Destination {
  /** Canonical. */
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
}

/** A frontend and its row. */
export interface Found {
  readonly row: Forwarding;
  readonly frontend: Frontend;
}

export type Match =
  | ({ readonly is: 'frontend' } & Found)
  /** A node port, at an address of this node that serves none. */
  | ({ readonly is: 'node port elsewhere' } & Found)
  /** Services that have the address, and not the port. */
  | {
      readonly is: 'undeclared port';
      readonly rows: readonly Forwarding[];
      readonly isClusterIp: boolean;
      /** The Service range that the address is in, as an external one may be. */
      readonly range?: string;
    }
  /** An address of a Service range that no Service has. */
  | { readonly is: 'unassigned'; readonly range: string }
  /** No Service has it. `nodePort`: one that is served at other addresses. */
  | { readonly is: 'nothing'; readonly nodePort?: Found };

/**
 * What an address and port is on this node, in the order of the rules: by address, then as a node
 * port, then the checks for cluster IPs.
 */
export function matchOf(to: Destination, rows: readonly Forwarding[], place: Place): Match {
  const family = familyOf(to.address);
  const own = rows.filter(({ id }) => id.family === family);
  const candidates = own.filter(({ id }) => id.protocol === to.protocol);
  const byAddress = find(candidates, ({ address, port }) => {
    return address === to.address && port === to.port;
  });
  if (byAddress && isServed(byAddress)) return { is: 'frontend', ...byAddress };
  const nodePort = find(candidates, ({ kind, port }) => kind === 'node-port' && port === to.port);
  const nodePortHere = servesNodePorts(to.address, family, place) ? nodePort : undefined;
  if (nodePortHere && isServed(nodePortHere)) return { is: 'frontend', ...nodePortHere };
  const claimed = byAddress ?? nodePortHere;
  if (claimed !== undefined) return { is: 'frontend', ...claimed };
  if (nodePort !== undefined && (isOwnAddress(to.address, place) || isLoopbackIp(to.address))) {
    return { is: 'node port elsewhere', ...nodePort };
  }
  return unknownPort(to, rows, place) ?? (nodePort ? { is: 'nothing', nodePort } : NOTHING);
}

const NOTHING: Match = { is: 'nothing' };

function isServed({ frontend }: Found): boolean {
  return frontend.notServed === undefined;
}

/** What the checks for cluster IPs make of an address that no frontend is at; undefined: nothing. */
export function unknownPort(
  { address }: Pick<Destination, 'address'>,
  rows: readonly Forwarding[],
  { facts }: Place,
): Extract<Match, { is: 'undeclared port' | 'unassigned' }> | undefined {
  const ranges = facts.knowsEveryService === false ? [] : facts.serviceRanges;
  const range = rangeOf(address, ranges);
  const having = rows.filter(({ frontends }) =>
    frontends.some((each) => each.address === address && each.notServed === undefined),
  );
  if (having.length === 0) return range === undefined ? undefined : { is: 'unassigned', range };
  const isClusterIp = having.some(({ frontends }) =>
    frontends.some((each) => each.kind === 'cluster-ip' && each.address === address),
  );
  const inRange = range === undefined ? {} : { range };
  return { is: 'undeclared port', rows: having, isClusterIp, ...inRange };
}

/** One that is served is preferred: of several that claim an address, one has it. */
function find(rows: readonly Forwarding[], is: (frontend: Frontend) => boolean): Found | undefined {
  let notServed: Found | undefined;
  for (const row of rows) {
    for (const frontend of row.frontends) {
      if (!is(frontend)) continue;
      if (frontend.notServed === undefined) return { row, frontend };
      notServed ??= { row, frontend };
    }
  }
  return notServed;
}

/** Whether node ports are served at this address of the machine. */
function servesNodePorts(address: string, family: Family, place: Place): boolean {
  const { nodePortAddresses, nodePortsOnLocalhost = false } = place.facts;
  const served = nodePortAddresses[family];
  if (served !== 'all') return served.includes(address);
  // Of IPv6 packets to loopback cannot be led elsewhere.
  if (isLoopbackIp(address)) return nodePortsOnLocalhost && family === 'IPv4';
  return isOwnAddress(address, place);
}

function rangeOf(address: string, ranges: readonly string[]): string | undefined {
  const ip = parseIp(address);
  if (ip === undefined) return undefined;
  return ranges.find((text) => {
    const range = parseCidr(text);
    return range !== undefined && contains(range, ip);
  });
}
