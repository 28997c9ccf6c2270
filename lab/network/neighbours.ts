import { type AddressPair, FAMILIES } from './plan.ts';

/**
 * The kernel's table of neighbours has 1024 places in each family for all namespaces of the machine
 * together, which the pods of a few labs fill. Then whoever asks for one more neighbour loses its
 * packets, and a proxy that did everything right looks as if it had not. Permanent entries take no
 * place and ask nobody, so everyone in a lab who is sent packets again and again has one.
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
