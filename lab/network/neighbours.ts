import { type AddressPair, FAMILIES } from './plan.ts';

/**
 * The kernel's neighbour table has 1024 entries per family for all network namespaces of the machine
 * together, and the pods of a few labs fill it. Packets to one more neighbour are then dropped, and a
 * correct proxy looks faulty. Permanent entries do not count and need no resolution, so every host of
 * a lab that often receives packets has one.
 */
export interface Neighbour {
  readonly address: AddressPair;
  readonly mac: string;
}

/** Locally administered and as unique as the address. */
export function macOf(address: AddressPair): string {
  const bytes = address.ipv4.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return `02:00:${bytes.join(':')}`;
}

/** Lines for `ip -batch`. */
export function permanentNeighbours(device: string, neighbours: readonly Neighbour[]): string[] {
  return neighbours.flatMap(({ address, mac }) =>
    FAMILIES.map(
      (family) => `neigh replace ${address[family]} lladdr ${mac} dev ${device} nud permanent`,
    ),
  );
}
