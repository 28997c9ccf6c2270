import type { Family, ServicePortKey } from '../../../../forwarding/model.ts';
import type { WireFrontend } from '../protocol.ts';
import { frontendKey, keyText } from './address-key.ts';
import type { AddressKey } from './row-memory.ts';
import type { RowWriter } from './row-writer.ts';

/** What claims frontends. */
export interface Claimant {
  readonly key: ServicePortKey;
  readonly family: Family;
  /** In the memory that all threads share. */
  readonly number: number;
  readonly frontends: readonly WireFrontend[];
}

interface Claim {
  readonly row: Claimant;
  readonly frontend: WireFrontend;
}

/**
 * Which row a frontend leads to. While an address moves from one Service to another two rows may
 * claim it; the one whose key is first then has it, whatever the order of the changes.
 */
export class FrontendClaims {
  readonly #writer: RowWriter;
  readonly #rowWithNumber: (number: number) => Claimant | undefined;
  /** Of those that more than one row claims, sorted by row. */
  readonly #disputed = new Map<string, Claim[]>();

  constructor(writer: RowWriter, rowWithNumber: (number: number) => Claimant | undefined) {
    this.#writer = writer;
    this.#rowWithNumber = rowWithNumber;
  }

  /** The row has its new frontends already. */
  change(row: Claimant, before: readonly WireFrontend[]): void {
    for (const frontend of before) this.#remove(row, frontend);
    for (const frontend of row.frontends) this.#add({ row, frontend });
  }

  #add(claim: Claim): void {
    const key = keyOf(claim);
    const number = this.#writer.rowOf(key);
    const holder = number === 0 ? undefined : this.#claimOf(this.#rowWithNumber(number), key);
    const claims = [...(this.#disputed.get(nameOf(key)) ?? (holder ? [holder] : [])), claim];
    this.#settle(key, claims);
  }

  #remove(row: Claimant, frontend: WireFrontend): void {
    const key = keyOf({ row, frontend });
    const claims = this.#disputed.get(nameOf(key)) ?? [];
    this.#settle(
      key,
      claims.filter((claim) => claim.row !== row),
    );
  }

  #settle(key: AddressKey, claims: Claim[]): void {
    claims.sort((a, b) => (a.row.key < b.row.key ? -1 : 1));
    if (claims.length > 1) this.#disputed.set(nameOf(key), claims);
    else this.#disputed.delete(nameOf(key));
    const [first] = claims;
    if (first === undefined) this.#writer.deleteFrontend(key);
    else this.#writer.setFrontend(key, first.row.number, first.frontend.treatments);
  }

  #claimOf(row: Claimant | undefined, key: AddressKey): Claim | undefined {
    const name = nameOf(key);
    const frontend = row?.frontends.find((each) => nameOf(keyOf({ row, frontend: each })) === name);
    return row === undefined || frontend === undefined ? undefined : { row, frontend };
  }
}

function keyOf({ row: { family }, frontend }: Claim): AddressKey {
  return frontendKey(family, frontend);
}

/** A node port has no address, which tells it from the unspecified one. */
function nameOf(key: AddressKey): string {
  return `${keyText(key)} ${key.meta}`;
}
