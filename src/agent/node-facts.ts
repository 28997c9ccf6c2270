import { type Cidr, contains, formatCidr, parseCidr } from '../addresses/cidr.ts';
import { canonicalIp, type IpAddress, parseIp } from '../addresses/ip.ts';
import type { NodeObject } from '../cluster/objects.ts';
import type { NodeFacts, PodDetection } from '../dataplanes/contract.ts';
import type { Family, FrontendKind, NodeView } from '../forwarding/model.ts';
import type { AgentSettings } from './agent-settings.ts';

/** Everything that decides how this node differs from all others. */
export interface NodeInput {
  readonly settings: AgentSettings;
  readonly nodeName: string;
  /** Undefined: not known, or there is none. */
  readonly node: NodeObject | undefined;
  /** All addresses of the machine's links. */
  readonly machineAddresses: readonly string[];
  /** Ranges of all ServiceCIDR objects, in any order. */
  readonly serviceRanges: readonly string[];
}

/** What a data plane must know of this node. */
export function nodeFacts(input: NodeInput): NodeFacts {
  return {
    podDetection: byFamily((family) => podDetection(input, family)),
    nodePortAddresses: byFamily((family) => nodePortAddresses(input, family)),
    ...(input.settings.nodePorts.onLocalhost ? { nodePortsOnLocalhost: true } : {}),
    ...clientInterfaces(input.settings),
    serviceRanges: unionOf(input.serviceRanges),
    podNetworks: unionOf([...input.settings.podNetworks, ...(input.node?.podCIDRs ?? [])]),
    // Not a shift: bit 31 would come out negative.
    masqueradeMark: 2 ** input.settings.masquerade.markBit,
  };
}

/** What the model must know of this node. */
export function nodeView(input: NodeInput): NodeView {
  const { settings, nodeName, node } = input;
  return {
    nodeName,
    zone: node?.zone ?? '',
    nodeIPs: nodeIps(input),
    detectsPods: byFamily((family) => podDetection(input, family) !== undefined),
    masqueradeAll: settings.masquerade.all,
    allowExternalIPs: settings.features.serviceExternalIps && settings.servedAddresses.externalIPs,
    ...unserved(settings),
  };
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
  // A machine that is no node opens only what was named.
  const otherwise = input.settings.nodeObject === 'none' ? [] : 'all';
  if (addresses === 'primary') {
    const own = nodeIps(input).filter((ip) => familyOf(ip) === family && !isLoopback(ip));
    return own.length === 0 ? otherwise : own;
  }
  const ranges = rangesOf(addresses, family);
  if (ranges.length === 0) return otherwise;
  if (ranges.some(({ prefixLength }) => prefixLength === 0)) return 'all';
  const within = input.machineAddresses.filter((text) => isServed(text, ranges, onLocalhost));
  return [...new Set(within.map((text) => canonicalIp(text) ?? text))].sort();
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
  return parsed(texts).filter(({ base }) => base.version === version);
}

/** A range inside another is left out: a kernel set of ranges refuses those that overlap. */
function unionOf(texts: readonly string[]): string[] {
  const ranges = parsed(texts);
  const isInside = (range: Cidr): boolean =>
    ranges.some((o) => o.prefixLength < range.prefixLength && contains(o, range.base));
  return [...new Set(ranges.filter((range) => !isInside(range)).map(formatCidr))].sort();
}

function parsed(texts: readonly string[]): Cidr[] {
  return texts.map(parseCidr).filter((range) => range !== undefined);
}

function familyOf(ip: string): Family {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}

function isLoopback(text: string): boolean {
  const address = parseIp(text);
  return address !== undefined && isLoopbackAddress(address);
}

function isLoopbackAddress({ version, bytes }: IpAddress): boolean {
  if (version === 4) return bytes[0] === 127;
  return bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

function byFamily<T>(of: (family: Family) => T): Record<Family, T> {
  return { IPv4: of('IPv4'), IPv6: of('IPv6') };
}
