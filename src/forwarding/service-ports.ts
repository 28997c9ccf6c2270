import { contains, formatCidr, parseCidr } from '../addresses/cidr.ts';
import { normalizeIp, parseIpSloppily } from '../addresses/ip.ts';
import type { ServiceObject, ServicePortObject } from '../cluster/objects.ts';
import type { Family, FrontendKind, NodeView, Protocol, ServicePortId } from './model.ts';
import { parseScheduler, type SchedulerWish } from './scheduler.ts';

const NONE: readonly string[] = [];

/** A port of a Service in one family, before policies are applied. */
export interface ServicePort {
  readonly id: ServicePortId;
  readonly clusterIP: string;
  readonly port: number;
  readonly nodePort: number;
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  readonly allowedSources: readonly string[] | undefined;
  readonly internalLocal: boolean;
  readonly externalLocal: boolean;
  readonly affinitySeconds: number;
  readonly schedulerWish?: SchedulerWish;
}

/** A port and its addresses. */
export type ReachablePort = Omit<ServicePort, 'allowedSources'>;

/** Ports of a Service in a family; none if this proxy must not serve it. */
export function servicePorts(
  service: ServiceObject,
  family: Family,
  view: NodeView,
): ServicePort[] {
  return portsOf(service, { family, view, sourcesOf: allowedSourcesOf });
}

/** Lazy: parsing thousands of source ranges is slow, and not every caller needs them. */
export function reachablePorts(
  service: ServiceObject,
  family: Family,
  view: NodeView,
): ReachablePort[] {
  return portsOf(service, { family, view, sourcesOf: () => undefined });
}

function portsOf(
  service: ServiceObject,
  known: { family: Family; view: NodeView; sourcesOf: typeof allowedSourcesOf },
): ServicePort[] {
  const { family, view } = known;
  if (!isServed(service)) return [];
  const clusterIP = firstOfFamily(service.clusterIPs, family);
  if (clusterIP === undefined) return [];
  const shared = {
    clusterIP,
    externalIPs: view.allowExternalIPs ? ofFamily(service.externalIPs, family) : [],
    loadBalancerIPs: isUnserved(view, 'load-balancer-ip') ? NONE : loadBalancerIps(service, family),
    internalLocal: service.internalTrafficPolicy === 'Local',
    externalLocal: isExternalLocal(service),
    affinitySeconds: service.affinitySeconds,
    ...(service.ipvsScheduler === undefined
      ? {}
      : { schedulerWish: parseScheduler(service.ipvsScheduler) }),
  };
  const hasNodePorts = !isUnserved(view, 'node-port');
  const allowedSources = known.sourcesOf(service, { family, view, vips: shared.loadBalancerIPs });
  return uniquePorts(service.ports).flatMap((port) => {
    const protocol = knownProtocol(port.protocol);
    if (protocol === undefined) return [];
    const { namespace, name } = service;
    const id = { namespace, service: name, port: port.name, protocol, family };
    return [
      {
        id,
        ...shared,
        allowedSources,
        port: port.port,
        nodePort: hasNodePorts ? port.nodePort : 0,
      },
    ];
  });
}

/** Canonical, of both families; none if this node serves none. */
export function externalIpsOf(service: ServiceObject, view: NodeView): readonly string[] {
  if (!view.allowExternalIPs || service.externalIPs.length === 0 || !isServed(service)) return NONE;
  return [...ofFamily(service.externalIPs, 'IPv4'), ...ofFamily(service.externalIPs, 'IPv6')];
}

export function isServed(service: ServiceObject): boolean {
  return service.type !== 'ExternalName' && service.labels.proxyName === undefined;
}

function isUnserved({ unserved = [] }: NodeView, kind: FrontendKind): boolean {
  return unserved.includes(kind);
}

export function usesClusterEndpoints(port: ServicePort): boolean {
  return !port.internalLocal || isReachableFromOutside(port);
}

export function usesLocalEndpoints(port: ServicePort): boolean {
  return port.internalLocal || (port.externalLocal && isReachableFromOutside(port));
}

function isReachableFromOutside(port: ServicePort): boolean {
  return port.nodePort !== 0 || port.externalIPs.length > 0 || port.loadBalancerIPs.length > 0;
}

/** The policy applies only to external traffic. */
function isExternalLocal(service: ServiceObject): boolean {
  const { type } = service;
  const external = type === 'LoadBalancer' || type === 'NodePort' || service.externalIPs.length > 0;
  return external && service.externalTrafficPolicy === 'Local';
}

/**
 * Only LoadBalancer Services with external policy Local have one; 0: none. Load balancers probe it
 * for the node ports they send to.
 */
export function healthCheckPortOf(service: ServiceObject, view: NodeView): number {
  if (isUnserved(view, 'node-port')) return 0;
  const isLocal = service.type === 'LoadBalancer' && service.externalTrafficPolicy === 'Local';
  return isLocal ? service.healthCheckNodePort : 0;
}

function loadBalancerIps(service: ServiceObject, family: Family): readonly string[] {
  const vips = service.loadBalancerIPs.filter(({ ipMode }) => ipMode === 'VIP');
  return ofFamily(
    vips.map(({ ip }) => ip),
    family,
  );
}

/**
 * Allowed sources of load balancer addresses. Ranges of the other family do not open this one: a
 * restriction to 10.0.0.0/8 does not allow all of IPv6.
 */
function allowedSourcesOf(
  service: ServiceObject,
  known: { family: Family; view: NodeView; vips: readonly string[] },
): readonly string[] | undefined {
  const texts = service.loadBalancerSourceRanges;
  if (texts.length === 0) return undefined;
  const ranges = texts.flatMap((text) => parseCidr(text.trim()) ?? []);
  if (ranges.some((range) => range.prefixLength === 0)) return undefined;
  const own = ranges.filter((range) => versionFamily(range.base.version) === known.family);
  const nodeIPs = known.view.nodeIPs.flatMap((text) => parseIpSloppily(text) ?? []);
  const holdsNode = own.some((range) => nodeIPs.some((ip) => contains(range, ip)));
  const width = known.family === 'IPv4' ? 32 : 128;
  // If the node has the address, its own traffic to it has that source address.
  const vips = holdsNode ? known.vips.map((vip) => `${vip}/${width}`) : [];
  return [...new Set([...own.map(formatCidr), ...vips])];
}

/** Canonical, of the family, each once, in the order given. */
function ofFamily(texts: readonly string[], family: Family): readonly string[] {
  if (texts.length === 0) return NONE;
  const found = new Set<string>();
  for (const text of texts) {
    const ip = normalizeIp(text);
    if (ip !== undefined && versionFamily(ip.version) === family) found.add(ip.address);
  }
  return [...found];
}

function firstOfFamily(texts: readonly string[], family: Family): string | undefined {
  return ofFamily(texts, family)[0];
}

export function versionFamily(version: 4 | 6): Family {
  return version === 4 ? 'IPv4' : 'IPv6';
}

export function knownProtocol(text: string): Protocol | undefined {
  return text === 'TCP' || text === 'UDP' || text === 'SCTP' ? text : undefined;
}

/** The API lets no two ports share name and protocol; if an object does, the first one counts. */
function uniquePorts(ports: readonly ServicePortObject[]): readonly ServicePortObject[] {
  if (ports.length < 2) return ports;
  const seen = new Set<string>();
  return ports.filter((port) => {
    const key = `${port.name}/${port.protocol}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
