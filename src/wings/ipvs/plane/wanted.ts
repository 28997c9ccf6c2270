import {
  type Endpoint,
  type EndpointList,
  type Forwarding,
  type Frontend,
  type ServicePortId,
  type ServicePortKey,
  SOURCE_CLASSES,
  type SourceClass,
  servicePortKey,
} from '../../../forwarding/model.ts';
import { canDrain, type Scheduler } from '../../../forwarding/scheduler.ts';
import { type VirtualServer, virtualServerId } from '../../../linux/ipvs/ipvs-model.ts';
import type { Capture, CapturedFrontend } from './capture/frontend.ts';
import type { NodePortAddresses } from './ipvs-node-port-addresses.ts';
import type { Claims } from './server-claims.ts';

/** A virtual server as a row wants it. */
export interface WantedServer {
  /** By `virtualServerId`. */
  readonly id: string;
  readonly row: ServicePortKey;
  readonly server: VirtualServer;
  /** Never empty. */
  readonly endpoints: readonly Endpoint[];
  /** Of each of its destinations. */
  readonly weight: number;
  /** False: its scheduler would choose destinations of weight 0 too, so they are deleted at once. */
  readonly canDrain: boolean;
  readonly captured: CapturedFrontend;
}

/** What rows are translated by, besides themselves. */
export interface Translation {
  readonly addresses: NodePortAddresses;
  /** Service addresses that the machine has itself. */
  readonly own: ReadonlySet<string>;
  readonly claims: Claims;
  readonly scheduler: Scheduler;
}

const NEVER = [] as const;

/**
 * The kernel compares a new destination with all others of its virtual server: 4,000 take 0.15 s, 20,000
 * take seconds, in which it does nothing else. Longer lists are left to the plane behind.
 */
export const MOST_DESTINATIONS = 2000;
/**
 * Each address of a Service has all its destinations again: a thousand external IPs and as many endpoints
 * are a million of them. `mh` also has a table of 32 KiB for each virtual server.
 */
export const MOST_DESTINATIONS_OF_A_ROW = 20_000;
const MOST_SERVERS_WITH_TABLES = 100;

/** The virtual servers of a row. Frontends that are not here are left to the plane behind. */
export function wantedServers(row: Forwarding | undefined, by: Translation): WantedServer[] {
  if (row === undefined || row.onlyPackets) return [];
  const servers = serversOf(row, by);
  const destinations = servers.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  if (destinations > MOST_DESTINATIONS_OF_A_ROW) return [];
  const hasTables = (row.scheduler ?? by.scheduler).name === 'mh';
  return hasTables && servers.length > MOST_SERVERS_WITH_TABLES ? [] : servers;
}

function serversOf(row: Forwarding, by: Translation): WantedServer[] {
  const key = servicePortKey(row.id);
  const scheduler = row.scheduler ?? by.scheduler;
  return row.frontends.flatMap((frontend) => {
    const list = capturedList(frontend);
    if (list === undefined) return NEVER;
    const endpoints = endpointsOf(row, list);
    if (!canHold(endpoints)) return NEVER;
    const capture = captureOf(row, frontend, list);
    return addressesOf(row, frontend, by).map((address): WantedServer => {
      const server = serverAt(row, { address, port: frontend.port }, scheduler);
      const { family, protocol } = row.id;
      return {
        id: virtualServerId(server),
        row: key,
        server,
        endpoints,
        weight: scheduler.weight ?? 1,
        canDrain: canDrain(scheduler),
        captured: { family, protocol, address, port: frontend.port, capture },
      };
    });
  });
}

/** Whether IPVS takes connections of a source class to a frontend, apart from limits of the whole row. */
export function isTakenFrom(row: Forwarding, frontend: Frontend, source: SourceClass): boolean {
  const list = row.onlyPackets ? undefined : capturedList(frontend);
  if (list === undefined || !canHold(endpointsOf(row, list))) return false;
  return captureOf(row, frontend, list)[source] !== 'pass';
}

function endpointsOf(row: Forwarding, list: EndpointList): readonly Endpoint[] {
  return list === 'cluster' ? row.clusterEndpoints : row.localEndpoints;
}

function canHold(endpoints: readonly Endpoint[]): boolean {
  if (endpoints.length === 0 || endpoints.length > MOST_DESTINATIONS) return false;
  return !endpoints.some(({ address }) => isRejected(address));
}

/** IPVS takes no destination that is not one host: multicast, broadcast, and link-local of IPv6. */
function isRejected(address: string): boolean {
  if (address.includes(':')) return /^(ff|fe[89ab])/.test(address);
  return Number.parseInt(address, 10) >= 224;
}

/**
 * The list whose classes IPVS takes; undefined: it takes none. Where some class is rejected or
 * dropped, the rules behind do so by the address of the frontend, in the input hook: what IPVS is to
 * translate still has that address there, so such a frontend is left to them.
 */
function capturedList(frontend: Frontend): EndpointList | undefined {
  if (frontend.notServed !== undefined || frontend.allowedSources !== undefined) return undefined;
  const { pod, host, outside } = frontend.outcomes;
  if (pod.action !== 'forward' || host.action !== 'forward') return undefined;
  return outside.action === 'forward' ? outside.list : undefined;
}

function captureOf(
  { id }: Forwarding,
  { outcomes }: Frontend,
  list: EndpointList,
): CapturedFrontend['capture'] {
  const of = (source: SourceClass): Capture => {
    const outcome = outcomes[source];
    if (outcome.action !== 'forward' || outcome.list !== list) return 'pass';
    if (source === 'host' && mayBeTooLong(id)) return 'pass';
    return outcome.masquerade ? 'take-and-masquerade' : 'take';
  };
  return Object.fromEntries(SOURCE_CLASSES.map((source) => [source, of(source)])) as Record<
    SourceClass,
    Capture
  >;
}

/**
 * IPVS sees a datagram of the node itself before it is fragmented, and in IPv6 rejects one that is longer
 * than the MTU (`__mtu_check_toobig_v6` of Linux 6.1). The length of later ones is not known at the
 * first, by which a flow is captured.
 */
function mayBeTooLong({ family, protocol }: ServicePortId): boolean {
  return family === 'IPv6' && protocol === 'UDP';
}

/** A node port yields where a Service has the same address and port by name, as in nftables. */
function addressesOf(
  { id: { family, protocol } }: Forwarding,
  { kind, address, port }: Frontend,
  { addresses, claims, own }: Translation,
): readonly string[] {
  if (kind !== 'node-port') return own.has(address) ? NEVER : [address];
  return addresses[family].filter(
    (each) => !claims.isNamed(virtualServerId({ address: each, protocol, port })),
  );
}

function serverAt(
  row: Forwarding,
  { address, port }: { readonly address: string; readonly port: number },
  { name, flags }: Scheduler,
): VirtualServer {
  return {
    protocol: row.id.protocol,
    address,
    port,
    scheduler: name,
    schedulerFlags: flags,
    persistenceSeconds: row.affinitySeconds,
  };
}
