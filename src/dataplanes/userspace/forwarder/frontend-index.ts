import type { Family } from '../../../forwarding/model.ts';
import type { WireFrontend } from '../protocol.ts';

/** `address port`, or `family port` for a node port. */
export type FrontendKey = string;

export function frontendKey(family: Family, { address, port }: Address): FrontendKey {
  return address === '' ? nodePortKey(family, port) : `${address} ${port}`;
}

export function nodePortKey(family: Family, port: number): FrontendKey {
  return `${family} ${port}`;
}

export function familyOf(address: string): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

interface Address {
  readonly address: string;
  readonly port: number;
}

/** A frontend of a row. */
export interface Claim<Row> {
  readonly row: Row;
  readonly frontend: WireFrontend;
}

/**
 * Which row a frontend leads to. While an address moves from one Service to another two rows may claim
 * it; the one whose key is first then has it, whatever the order of the changes.
 */
export class FrontendIndex<Row extends { readonly key: string; readonly family: Family }> {
  readonly #claims = new Map<FrontendKey, Claim<Row> | Claim<Row>[]>();

  add(claim: Claim<Row>): FrontendKey {
    const key = frontendKey(claim.row.family, claim.frontend);
    const known = this.#claims.get(key);
    if (known === undefined) this.#claims.set(key, claim);
    else this.#claims.set(key, [...asList(known), claim].sort(byRow));
    return key;
  }

  remove(claim: Claim<Row>): FrontendKey {
    const key = frontendKey(claim.row.family, claim.frontend);
    const known = this.#claims.get(key);
    const rest = asList(known).filter(({ frontend }) => frontend !== claim.frontend);
    const [only] = rest;
    if (only === undefined) this.#claims.delete(key);
    else this.#claims.set(key, rest.length === 1 ? only : rest);
    return key;
  }

  /** The exact address first, then the node port. */
  find({ address, port }: Address): Claim<Row> | undefined {
    return this.#get(`${address} ${port}`) ?? this.#get(nodePortKey(familyOf(address), port));
  }

  #get(key: FrontendKey): Claim<Row> | undefined {
    const known = this.#claims.get(key);
    return Array.isArray(known) ? known[0] : known;
  }
}

function asList<Row>(claims: Claim<Row> | Claim<Row>[] | undefined): Claim<Row>[] {
  if (claims === undefined) return [];
  return Array.isArray(claims) ? claims : [claims];
}

function byRow(a: Claim<{ readonly key: string }>, b: Claim<{ readonly key: string }>): number {
  return a.row.key < b.row.key ? -1 : 1;
}
