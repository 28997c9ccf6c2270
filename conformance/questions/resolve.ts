import type { Destination, Origin } from '../../lab/host/sockets.ts';
import {
  type AddressPair,
  type Family,
  MACHINE,
  nodeAddress,
  nodeName,
  outsiderAddress,
  podGateway,
  secondNodeAddress,
  tunnelAddress,
} from '../../lab/network/plan.ts';
import { nodeIndexes } from '../../lab/network/topology.ts';
import { CONTAINER, CONTAINER_ADDRESS } from '../../lab/outside/hosts.ts';
import type { Asker, Protocol, Target } from '../scenario.ts';
import type { World } from '../world.ts';

/** Where a question starts, in addresses. */
export interface ResolvedAsker {
  readonly origin: Origin;
  /** Source addresses that a server may see without masquerading. */
  readonly ownAddresses: readonly string[];
  /** The node whose proxy gets the packets first; undefined if the client is not behind a node. */
  readonly node: number | undefined;
}

export interface ResolvedTarget extends Destination {
  readonly protocol: Protocol | 'HTTP' | 'ICMP';
  readonly path?: string;
  /** Asked of the DNS server there. */
  readonly name?: string;
  /** The node that translates, when the destination itself decides it. */
  readonly node?: number;
}

const CLUSTER_DOMAIN = 'cluster.local';
const UNASSIGNED: AddressPair = { ipv4: '10.111.255.254', ipv6: 'fd00:96::f:fffe' };
const ADDRESS_AT = { 'pod-gateway': podGateway, 'second-uplink': secondNodeAddress } as const;
const LOCALHOST: AddressPair = { ipv4: '127.0.0.1', ipv6: '::1' };

export function resolveAsker(world: World, asker: Asker, family: Family): ResolvedAsker {
  const [name = '', via] = asker.split('@');
  const viaNode = via === undefined ? undefined : indexOf(via);
  if (name.startsWith('pod:')) {
    return podAsker(world, name.slice('pod:'.length), family);
  }
  if (name === 'container') return container(world, family);
  if (name === 'machine' && world.outside) return ownSockets(world, viaNode, family);
  if (name === 'neighbour') return resolveAsker(world, 'client', family);
  if (name === 'client' || name === 'machine') {
    const sourceAddress = outsiderAddress(name, viaNode)[family];
    const origin = { namespace: world.lab.namespacePath(name), sourceAddress };
    return { origin, ownAddresses: [sourceAddress], node: viaNode };
  }
  const index = indexOf(name);
  const namespace = world.lab.namespacePath(nodeName(index));
  const origin = { namespace, group: world.lab.socketGroup(index) };
  return { origin, ownAddresses: addressesOfNode(index, family), node: index };
}

function podAsker(world: World, asker: string, family: Family): ResolvedAsker {
  const [name = '', number] = asker.split('#');
  const pod = world.pod(name);
  const numbered = number === undefined ? undefined : pod.numbered(Number(number));
  if (number !== undefined && numbered === undefined) {
    throw new TypeError(`the pod '${name}' has no address ${number}`);
  }
  const group = world.lab.socketGroup(pod.spec.nodeIndex);
  const bound = numbered && { sourceAddress: numbered[family] };
  return {
    origin: { namespace: pod.namespacePath, group, ...bound },
    ownAddresses: [(numbered ?? pod.address)[family]],
    node: pod.spec.nodeIndex,
  };
}

/** The machine as itself, with the source address that the kernel chooses unless one is asked for. */
function ownSockets(world: World, viaNode: number | undefined, family: Family): ResolvedAsker {
  const bound =
    viaNode === undefined ? {} : { sourceAddress: outsiderAddress(MACHINE, viaNode)[family] };
  const namespace = world.lab.namespacePath(MACHINE);
  return {
    origin: { namespace, group: world.lab.socketGroup(MACHINE), ...bound },
    ownAddresses: [undefined, ...nodeIndexes(world.lab)].map(
      (index) => outsiderAddress(MACHINE, index)[family],
    ),
    node: undefined,
  };
}

function container(world: World, family: Family): ResolvedAsker {
  const namespace = world.lab.namespacePath(CONTAINER);
  return {
    origin: { namespace, group: world.lab.socketGroup(MACHINE) },
    ownAddresses: [CONTAINER_ADDRESS[family]],
    node: undefined,
  };
}

/** Any of these means "the node" to a server that sees them. */
export function addressesOfNode(index: number, family: Family): string[] {
  return [nodeAddress, podGateway, tunnelAddress, secondNodeAddress].map(
    (addressOf) => addressOf(index)[family],
  );
}

export function resolveTarget(world: World, target: Target, family: Family): ResolvedTarget {
  if ('ping' in target) {
    return { ...resolveTarget(world, target.ping, family), port: 0, protocol: 'ICMP' };
  }
  if ('resolve' in target) {
    const { address, port, protocol } = resolveTarget(world, target.resolve, family);
    const name = `${target.name}.${world.namespace}.svc.${CLUSTER_DOMAIN}`;
    return { address, port, protocol, name };
  }
  if ('clusterIP' in target) return clusterIpTarget(world, target, family);
  if ('nodePort' in target) {
    const port = world.servicePort(target.nodePort, target.port);
    const protocol = protocolOf(port.protocol);
    return { ...nodeSide(target, family), port: port.nodePort ?? 0, protocol };
  }
  if ('nodePortNamed' in target) {
    const { node, protocol, nodePortNamed } = target;
    return {
      address: nodeAddress(node)[family],
      port: world.nodePort(nodePortNamed),
      protocol,
      node,
    };
  }
  if ('service' in target) {
    const port = world.servicePort(target.service, target.port);
    const address = world.address(target.address)[family];
    return { address, port: port.port, protocol: protocolOf(port.protocol) };
  }
  if ('address' in target) return { ...target, address: world.address(target.address)[family] };
  if ('podIP' in target) return { ...target, address: world.pod(target.podIP).address[family] };
  if ('unassigned' in target) return { ...target, address: UNASSIGNED[family] };
  const side = hostSide(target.node, nodeAddress, family);
  if ('http' in target) {
    return { ...side, port: target.port, protocol: 'HTTP', path: target.http };
  }
  const port = world.service(target.healthCheck).spec.healthCheckNodePort ?? 0;
  return { ...side, port, protocol: 'HTTP', path: '/' };
}

function nodeSide(
  target: Extract<Target, { nodePort: string }>,
  family: Family,
): { address: string; node?: number } {
  const { node, at } = target;
  if (node === 'localhost') return { address: LOCALHOST[family] };
  return hostSide(node, at === undefined ? nodeAddress : ADDRESS_AT[at], family);
}

function hostSide(
  host: number | typeof MACHINE,
  addressOf: (node: number) => AddressPair,
  family: Family,
): { address: string; node?: number } {
  if (host === MACHINE) return { address: outsiderAddress(MACHINE)[family] };
  return { address: addressOf(host)[family], node: host };
}

function clusterIpTarget(
  world: World,
  target: Extract<Target, { clusterIP: string }>,
  family: Family,
): ResolvedTarget {
  const { clusterIPs = [] } = world.service(target.clusterIP).spec;
  // A Service that has become an ExternalName can still be asked for at the address it had.
  const address =
    clusterIPs.find((ip) => ip.includes(':') === (family === 'ipv6')) ??
    world.fixedClusterIp(target.clusterIP)[family];
  if (typeof target.port === 'number' && target.protocol) {
    return { address, port: target.port, protocol: target.protocol };
  }
  const port = world.servicePort(target.clusterIP, target.port);
  return { address, port: port.port, protocol: protocolOf(port.protocol) };
}

function protocolOf(protocol: Protocol | undefined): Protocol {
  return protocol ?? 'TCP';
}

function indexOf(node: string): number {
  const index = Number(/^node(\d+)$/.exec(node)?.[1]);
  if (Number.isNaN(index)) throw new TypeError(`'${node}' is not a node`);
  return index;
}
