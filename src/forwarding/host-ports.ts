import { canonicalIp } from '../addresses/ip.ts';
import { claimOf } from './claims.ts';
import type { Family, Protocol, ServicePortId } from './model.ts';

/** A port of the machine that one of its processes has. */
export interface HostSocket {
  readonly family: Family;
  readonly protocol: Protocol;
  /** Canonical; empty: every address of the family. */
  readonly address: string;
  readonly port: number;
}

/** What the machine itself has: an external IP may be one of its addresses. */
export interface HostState {
  /** Addresses of all interfaces. */
  readonly addresses: readonly string[];
  readonly sockets: readonly HostSocket[];
}

export const UNKNOWN_HOST: HostState = { addresses: [], sockets: [] };

/** The state of the machine, to be looked up by address and port. */
export class HostPorts {
  readonly #addresses: ReadonlySet<string>;
  /** By what a Service with this address and port would claim. */
  readonly #sockets: ReadonlyMap<string, HostSocket>;

  constructor({ addresses, sockets }: HostState) {
    this.#addresses = new Set(addresses.flatMap((text) => canonicalIp(text) ?? []));
    this.#sockets = new Map(sockets.map((socket) => [claimOf(socket, socket), socket]));
  }

  has(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** Whether a process has this port of this address, or of every address. */
  isHeld(id: ServicePortId, { address, port }: { address: string; port: number }): boolean {
    const everywhere = claimOf(id, { address: '', port });
    return this.#sockets.has(claimOf(id, { address, port })) || this.#sockets.has(everywhere);
  }

  /** Addresses that one of the two has and the other has not. */
  addressesUnlike(other: HostPorts): ReadonlySet<string> {
    return this.#addresses.symmetricDifference(other.#addresses);
  }

  /** Ports that are held in one of the two and not in the other, at whichever address. */
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
