import type { Endpoint, Family, Forwarding, Frontend, Protocol } from '../forwarding/model.ts';
import { type AddressBytes, addressBytes } from '../linux/conntrack/address-bytes.ts';
import {
  PROTOCOL_SCTP,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from '../linux/conntrack/conntrack-protocol.ts';

/** Protocol, address and port; for a node port protocol, version and port. */
export type FrontendKey = string;
/** Address and port. */
export type EndpointKey = string;

export const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = {
  TCP: PROTOCOL_TCP,
  UDP: PROTOCOL_UDP,
  SCTP: PROTOCOL_SCTP,
};

export const IP_VERSIONS: Readonly<Record<Family, 4 | 6>> = { IPv4: 4, IPv6: 6 };

/** Destination of the first packets of flows to a frontend. */
export interface FlowTarget {
  readonly version: 4 | 6;
  readonly protocol: number;
  /** Undefined for a node port. */
  readonly address: AddressBytes | undefined;
  readonly port: number;
}

/** Undefined: not an IP address, so no flow can have it. */
export function targetOf({ id }: Forwarding, frontend: Frontend): FlowTarget | undefined {
  const isNodePort = frontend.kind === 'node-port';
  const address = isNodePort ? undefined : addressBytes(frontend.address);
  if (address === undefined && !isNodePort) return undefined;
  const version = IP_VERSIONS[id.family];
  return { version, protocol: PROTOCOL_NUMBERS[id.protocol], address, port: frontend.port };
}

export function targetKey({ version, protocol, address, port }: FlowTarget): FrontendKey {
  return address === undefined
    ? nodePortKey(version, protocol, port)
    : addressKey(protocol, address, port);
}

export function addressKey(protocol: number, address: AddressBytes, port: number): FrontendKey {
  return String.fromCharCode(protocol) + address + String.fromCharCode(port);
}

/** Shorter than a key with an address, so never equal to one. */
export function nodePortKey(version: 4 | 6, protocol: number, port: number): FrontendKey {
  return String.fromCharCode(protocol, version, port);
}

export function endpointKey(address: AddressBytes, port: number): EndpointKey {
  return address + String.fromCharCode(port);
}

/** Endpoints of a row, of either list. */
export function endpointKeys(row: Forwarding | undefined): Set<EndpointKey> {
  const keys = new Set<EndpointKey>();
  const add = ({ address, port }: Endpoint): void => {
    const bytes = addressBytes(address);
    if (bytes !== undefined) keys.add(endpointKey(bytes, port));
  };
  row?.clusterEndpoints.forEach(add);
  row?.localEndpoints.forEach(add);
  return keys;
}
