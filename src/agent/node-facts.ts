import { type Cidr, contains, formatCidr, parseCidrs, unionOf } from '../addresses/cidr.ts';
import { canonicalIp, formatIp, type IpAddress, parseIp } from '../addresses/ip.ts';
import { isLoopbackAddress, isLoopbackIp } from '../addresses/loopback.ts';
import type { NodeObject } from '../cluster/objects.ts';
import type { ModeNeeds } from '../config/modes.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import type { PodDetection } from '../forwarding/answer/place.ts';
import type { Family, FrontendKind, NodeView } from '../forwarding/model.ts';
import type { AgentSettings } from './agent-settings.ts';

/** Everything that decides how this node differs from all others. */
export interface NodeInput {
  readonly settings: AgentSettings;
  readonly needs: ModeNeeds;
  readonly nodeName: string;
  /** Undefined: not known, or there is none. */
  readonly node: NodeObject | undefined;
  /** All addresses of the machine's links. */
  readonly machineAddresses: readonly string[];
  /** Ranges of all ServiceCIDR objects, in any order; configured ones are used instead. */
  readonly serviceRanges: readonly string[];
}

/** The facts of this node for a data plane. */
export function nodeFacts(input: NodeInput): NodeFacts {
  return {
    podDetection: byFamily((family) => podDetection(input, family)),
    nodePortAddresses: byFamily((family) => nodePortAddresses(input, family)),
    ...(input.needs.ownAddresses ? { ownAddresses: ownAddresses(input) } : {}),
    ...(input.settings.nodePorts.onLocalhost ? { nodePortsOnLocalhost: true } : {}),
    ...relayedLocalhost(input.settings),
    ...clientInterfaces(input.settings),
    serviceRanges: serviceRanges(input),
    ...(input.settings.scope === undefined ? {} : { knowsEveryService: false }),
    podNetworks: unionOf([...input.settings.podNetworks, ...(input.node?.podCIDRs ?? [])]),
    // Not a shift: bit 31 would be negative.
    masqueradeMark: 2 ** input.settings.masquerade.markBit,
  };
}

/** The facts of this node for the model. */
export function nodeView(input: NodeInput): NodeView {
  const { settings, nodeName, node } = input;
  return {
    nodeName,
    ...(settings.nodeObject === 'none' ? { isNode: false } : {}),
    zone: settings.zone ?? node?.zone ?? '',
    nodeIPs: nodeIps(input),
    detectsPods: byFamily((family) => podDetection(input, family) !== undefined),
    masqueradeAll: settings.masquerade.all,
    allowExternalIPs: settings.features.serviceExternalIps && settings.servedAddresses.externalIPs,
    ...unserved(settings),
    addressRules: settings.addressRules,
    serviceRanges: serviceRanges(input),
    ...(settings.servedAddresses.allClusterIPs ? {} : { onlyServiceRanges: true }),
    ...leftToPackets(input),
  };
}

/**
 * `fairlead outside dns` has the resolver send its queries by an interface of our own. Modes that
 * need no labels of namespaces leave everything to packets.
 */
function leftToPackets({ settings, needs }: NodeInput): Pick<NodeView, 'leftToPackets'> {
  const { nodeObject, clusterDns } = settings;
  if (!needs.namespaces || nodeObject !== 'none' || clusterDns.length === 0) return {};
  return { leftToPackets: clusterDns.map((address) => canonicalIp(address) ?? address) };
}

/** Whoever administers the cluster writes ServiceCIDR objects: they are no limit to themselves. */
function serviceRanges({ settings, serviceRanges: ofObjects }: NodeInput): string[] {
  const isConfigured = settings.serviceRanges.length > 0;
  const usesObjects = !isConfigured && settings.servedAddresses.allClusterIPs;
  return unionOf(usesObjects ? ofObjects : settings.serviceRanges);
}

function relayedLocalhost({ nodePorts }: AgentSettings): Pick<NodeFacts, 'relayedLocalhost'> {
  const { relayedLocalhost } = nodePorts;
  return relayedLocalhost === undefined ? {} : { relayedLocalhost };
}

function clientInterfaces({ clients }: AgentSettings): Pick<NodeFacts, 'clientInterfaces'> {
  return clients === 'everybody' ? {} : { clientInterfaces: [...new Set(clients)].sort() };
}

function unserved({ nodePorts, servedAddresses }: AgentSettings): Pick<NodeView, 'unserved'> {
  const kinds: FrontendKind[] = [];
  if (!servedAddresses.externalIPs) kinds.push('external-ip');
  if (!servedAddresses.loadBalancerIPs) kinds.push('load-balancer-ip');
  if (nodePorts.addresses === 'none') kinds.push('node-port');
  return kinds.length === 0 ? {} : { unserved: kinds };
}

/**
 * One address of the node for each family that it has one of, the primary family first. The
 * configured address wins over the object's.
 */
function nodeIps({ settings, node }: NodeInput): string[] {
  const known = (node?.addresses ?? []).map(canonicalIp).filter((ip) => ip !== undefined);
  const configured = settings.nodeAddress && canonicalIp(settings.nodeAddress);
  const all = configured ? [configured, ...known] : known;
  const [first] = all;
  const other = all.find((ip) => first !== undefined && familyOf(ip) !== familyOf(first));
  return [first, other].filter((ip) => ip !== undefined);
}

function podDetection(input: NodeInput, family: Family): PodDetection | undefined {
  const { localTraffic } = input.settings;
  switch (localTraffic.by) {
    case 'ClusterCIDR':
      return firstRange(localTraffic.cidrs, family);
    case 'NodeCIDR':
      return firstRange(input.node?.podCIDRs ?? [], family);
    case 'BridgeInterface':
      return { by: 'interface', name: localTraffic.interfaceName };
    case 'InterfaceNamePrefix':
      return { by: 'interface-prefix', prefix: localTraffic.prefix };
  }
}

function firstRange(texts: readonly string[], family: Family): PodDetection | undefined {
  const [range] = rangesOf(texts, family);
  return range && { by: 'cidr', cidr: formatCidr(range) };
}

function nodePortAddresses(input: NodeInput, family: Family): 'all' | readonly string[] {
  const { addresses, onLocalhost } = input.settings.nodePorts;
  if (addresses === 'all') return 'all';
  if (addresses === 'none') return [];
  const ranges = rangesOf(addresses, family);
  const own = addresses.includes('primary') ? primaryAddresses(input, family) : [];
  // A machine without a Node object opens only what is configured.
  if (ranges.length + own.length === 0) return input.settings.nodeObject === 'none' ? [] : 'all';
  if (ranges.some(({ prefixLength }) => prefixLength === 0)) return 'all';
  const within = input.machineAddresses.filter((text) => isServed(text, ranges, onLocalhost));
  return [...new Set([...own, ...within.map((text) => canonicalIp(text) ?? text)])].sort();
}

function primaryAddresses(input: NodeInput, family: Family): readonly string[] {
  return nodeIps(input).filter((ip) => familyOf(ip) === family && !isLoopbackIp(ip));
}

/** Without link-local ones of IPv6: every pod brings an interface with one, and no Service has one. */
function ownAddresses({ machineAddresses }: NodeInput): readonly string[] {
  const own = machineAddresses.map(parseIp).filter((ip) => ip !== undefined);
  return [...new Set(own.filter((ip) => !isLinkLocal(ip)).map(formatIp))].sort();
}

function isLinkLocal({ version, bytes }: IpAddress): boolean {
  return version === 6 && bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

function isServed(text: string, ranges: readonly Cidr[], onLocalhost: boolean): boolean {
  const address = parseIp(text);
  if (address === undefined) return false;
  // Only of IPv4 can packets to loopback be led elsewhere.
  if (isLoopbackAddress(address) && !(onLocalhost && address.version === 4)) return false;
  return ranges.some((range) => contains(range, address));
}

function rangesOf(texts: readonly string[], family: Family): Cidr[] {
  const version = family === 'IPv4' ? 4 : 6;
  return parseCidrs(texts).filter(({ base }) => base.version === version);
}

function familyOf(ip: string): Family {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}

function byFamily<T>(factOf: (family: Family) => T): Record<Family, T> {
  return { IPv4: factOf('IPv4'), IPv6: factOf('IPv6') };
}
