/**
 * The address plan of a lab. Every lab uses the same addresses, each in namespaces of its own.
 *
 *   fabric    172.30.0.1      fd00:30::1       router, control plane, capture point
 *   nodeN     172.30.1.N      fd00:30::1:N     pods 10.(128+N).0.0/16, fd00:128:N::/64
 *             172.31.1.N      fd00:31::1:N     its second uplink, in the network of that name
 *   client    172.30.2.N      fd00:30::2:N     connects through nodeN; 172.30.2.254 through no node
 *   machine   172.30.3.N      fd00:30::3:N     the same, and has routes to the pods
 *   container 172.17.0.2      fd00:17::2       behind docker0 of the machine, where there is one
 *   services  10.96.0.0/12    fd00:96::/108    what the API server allocates from
 *   external  198.18.0.0/15   fd00:18::/64     external and load-balancer addresses
 */

/** An address in both families. */
export interface AddressPair {
  readonly ipv4: string;
  readonly ipv6: string;
}

export type Family = keyof AddressPair;
export const FAMILIES: readonly Family[] = ['ipv4', 'ipv6'];

export const MAX_NODES = 100;

export const LAN_PREFIX = { ipv4: 16, ipv6: 64 } as const;
export const FABRIC: AddressPair = { ipv4: '172.30.0.1', ipv6: 'fd00:30::1' };
/** The second LAN, in networks that have one. */
export const SECOND_FABRIC: AddressPair = { ipv4: '172.31.0.1', ipv6: 'fd00:31::1' };
export const CLUSTER_CIDR: AddressPair = { ipv4: '10.128.0.0/9', ipv6: 'fd00:128::/32' };
export const SERVICE_CIDR: AddressPair = { ipv4: '10.96.0.0/12', ipv6: 'fd00:96::/108' };
export const EXTERNAL_CIDR: AddressPair = { ipv4: '198.18.0.0/15', ipv6: 'fd00:18::/64' };

/** The host beside the cluster on which Fairlead may run without a Node object. */
export const MACHINE = 'machine';

/** Hosts on the LAN that are not nodes; each has one address for each node it may go through. */
export type Outsider = 'client' | typeof MACHINE;
const OUTSIDER_BLOCK: Readonly<Record<Outsider, number>> = { client: 2, machine: 3 };
const VIA_NOBODY = 254;

export function nodeName(index: number): string {
  return `node${index}`;
}

export function nodeAddress(index: number): AddressPair {
  return { ipv4: `172.30.1.${index}`, ipv6: `fd00:30::1:${index.toString(16)}` };
}

export function secondNodeAddress(index: number): AddressPair {
  return { ipv4: `172.31.1.${index}`, ipv6: `fd00:31::1:${index.toString(16)}` };
}

export function outsiderAddress(outsider: Outsider, viaNode?: number): AddressPair {
  const block = OUTSIDER_BLOCK[outsider];
  const host = viaNode ?? VIA_NOBODY;
  return { ipv4: `172.30.${block}.${host}`, ipv6: `fd00:30::${block}:${host.toString(16)}` };
}

export function podCidr(nodeIndex: number): AddressPair {
  return { ipv4: `10.${128 + nodeIndex}.0.0/16`, ipv6: `fd00:128:${nodeIndex.toString(16)}::/64` };
}

/** The node's own address inside its pod network: what pods use as gateway. */
export function podGateway(nodeIndex: number): AddressPair {
  return podAddress(nodeIndex, 1);
}

/** The node's address on the device that leads to other nodes' pods, where that is a tunnel. */
export function tunnelAddress(nodeIndex: number): AddressPair {
  return { ...podAddress(nodeIndex, 0), ipv6: `fd00:128:${nodeIndex.toString(16)}::` };
}

export function podAddress(nodeIndex: number, host: number): AddressPair {
  return {
    ipv4: `10.${128 + nodeIndex}.${host >> 8}.${host & 0xff}`,
    ipv6: `fd00:128:${nodeIndex.toString(16)}::${host.toString(16)}`,
  };
}

/** From here on the pod addresses of a node are handed out in blocks, for pods with thousands. */
const FIRST_BLOCK_HOST = 0x8000;
const BLOCK_BITS = 13;
/** Numbers from 1 to this; four such blocks fit into the pod network of a node. */
export const BLOCK_SIZE = 2 ** BLOCK_BITS - 1;
export const BLOCKS_PER_NODE = (0x1_0000 - FIRST_BLOCK_HOST) >> BLOCK_BITS;

/** Address `number` of block `block`, which counts from 0. */
export function blockAddress(nodeIndex: number, block: number, number: number): AddressPair {
  return podAddress(nodeIndex, FIRST_BLOCK_HOST + (block << BLOCK_BITS) + number);
}

export function blockCidr(nodeIndex: number, block: number): AddressPair {
  const first = blockAddress(nodeIndex, block, 0);
  return { ipv4: `${first.ipv4}/${32 - BLOCK_BITS}`, ipv6: `${first.ipv6}/${128 - BLOCK_BITS}` };
}

/** The n-th address that a scenario may use as external or load-balancer address, from 1. */
export function externalAddress(serial: number): AddressPair {
  return {
    ipv4: `198.18.${serial >> 8}.${serial & 0xff}`,
    ipv6: `fd00:18::${serial.toString(16)}`,
  };
}

/** Zones alternate, so that two nodes are always in two zones. */
export function zoneOf(nodeIndex: number): string {
  return nodeIndex % 2 === 1 ? 'zone-a' : 'zone-b';
}
