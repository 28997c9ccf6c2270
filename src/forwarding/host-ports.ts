import { canonicalIp } from '../addresses/ip.ts';
import { claimOf } from './claims.ts';
import type { Family, Protocol, ServicePortId } from './model.ts';

/** A listening port of a process on the machine. */
export interface HostSocket {
  readonly family: Family;
  readonly protocol: Protocol;
  /** Canonical; empty: every address of the family. */
  readonly address: string;
  readonly port: number;
}

/** Addresses and listening ports of the machine: an external IP may be one of them. */
export interface HostState {
  /** Addresses of all interfaces. */
  readonly addresses: readonly string[];
  readonly sockets: readonly HostSocket[];
}

export const UNKNOWN_HOST: HostState = { addresses: [], sockets: [] };

/** Index of the state by address and port. */
export class HostPorts {
  readonly #addresses: ReadonlySet<string>;
  /** Keyed by the claim of a Service with this address and port. */
  readonly #sockets: ReadonlyMap<string, HostSocket>;

  constructor({ addresses, sockets }: HostState) {
    this.#addresses = new Set(addresses.flatMap((text) => canonicalIp(text) ?? []));
    this.#sockets = new Map(sockets.map((socket) => [claimOf(socket, socket), socket]));
  }

  has(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** Whether a process listens on this port of this address, or of all addresses. */
  isHeld(id: ServicePortId, { address, port }: { address: string; port: number }): boolean {
    const everywhere = claimOf(id, { address: '', port });
    return this.#sockets.has(claimOf(id, { address, port })) || this.#sockets.has(everywhere);
  }

  /** Addresses that differ between the two. */
  addressesUnlike(other: HostPorts): ReadonlySet<string> {
    return this.#addresses.symmetricDifference(other.#addresses);
  }

  /** Ports that differ between the two, at any address. */
  portsUnlike(other: HostPorts): ReadonlySet<number> {
    const ports = new Set<number>();
    for (const [key, { port }] of this.#sockets) if (!other.#sockets.has(key)) ports.add(port);
    for (const [key, { port }] of other.#sockets) if (!this.#sockets.has(key)) ports.add(port);
    return ports;
  }

  addresses(): Iterable<string> {
    return this.#addresses;
  }
}
