import type { Forwarding, Frontend, ServicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { type AddressBytes, addressText } from '../linux/conntrack/address-bytes.ts';
import type { Flow } from '../linux/conntrack/flow.ts';

/** Rows of TCP that forward where they did not a while ago, so that clients may have come too early. */
export class BegunRows {
  /** At a start these are all of a cluster's: they get no keys. */
  #adopted: readonly Forwarding[] = [];
  readonly #noted = new Map<ServicePortKey, Forwarding>();

  get size(): number {
    return this.#adopted.length + this.#noted.size;
  }

  *[Symbol.iterator](): Generator<Forwarding> {
    yield* this.#adopted;
    yield* this.#noted.values();
  }

  /** All of these may have begun while nobody looked. */
  adopt(rows: readonly Forwarding[]): void {
    this.#adopted = rows.filter((row) => isTcp(row) && forwards(row));
  }

  /**
   * Only what turns silence into a way counts: there may be a thousand changes of endpoints in a
   * second, and each look costs the kernel a walk through its flows.
   */
  note(changes: readonly Change[]): void {
    for (const { key, before, after } of changes) {
      if (after === undefined || !isTcp(after) || !forwards(after)) this.#noted.delete(key);
      else if (this.#noted.has(key) || begins(before, after)) this.#noted.set(key, after);
    }
  }

  /** What is to be looked at is what has become of it by then. */
  follow(changes: readonly Change[]): void {
    this.note(changes.filter(({ key }) => this.#noted.has(key)));
  }

  want(key: ServicePortKey, row: Forwarding): void {
    this.#noted.set(key, row);
  }

  /** Takes back what was to be looked at earlier and was not. */
  putBack(earlier: BegunRows): void {
    if (this.#adopted.length === 0) this.#adopted = earlier.#adopted;
    for (const [key, row] of earlier.#noted) {
      if (!this.#noted.has(key)) this.#noted.set(key, row);
    }
  }
}

function begins(before: Forwarding | undefined, after: Forwarding): boolean {
  if (before === undefined || !forwards(before)) return true;
  const { frontends } = before;
  return frontends !== after.frontends && after.frontends.some((one) => isNewTo(frontends, one));
}

function isNewTo(
  known: readonly Frontend[],
  { kind, address, port, notServed }: Frontend,
): boolean {
  return (
    notServed === undefined &&
    !known.some(
      (one) =>
        one.kind === kind &&
        one.address === address &&
        one.port === port &&
        one.notServed === undefined,
    )
  );
}

function isTcp({ id }: Forwarding): boolean {
  return id.protocol === 'TCP';
}

function forwards({ clusterEndpoints, localEndpoints }: Forwarding): boolean {
  return clusterEndpoints.length > 0 || localEndpoints.length > 0;
}

/** By port and address; for a node port its family is in place of the address. */
type Owners = Map<number, Map<string, Forwarding>>;

/**
 * Whose the frontends of such rows are. At a start there are all of a cluster's, and hardly ever is
 * one asked for: they are not sorted before one is.
 */
export class BegunFrontends {
  readonly #rows: BegunRows;
  readonly #isNodePortAddress: (address: AddressBytes) => boolean;
  #owners: Owners | undefined;

  constructor(rows: BegunRows, isNodePortAddress: (address: AddressBytes) => boolean) {
    this.#rows = rows;
    this.#isNodePortAddress = isNodePortAddress;
  }

  ownerOf({ version, original }: Flow): Forwarding | undefined {
    this.#owners ??= ownersOf(this.#rows);
    const { destination, destinationPort } = original;
    const atPort = this.#owners.get(destinationPort);
    if (atPort === undefined) return undefined;
    const owner = atPort.get(addressText(destination));
    if (owner !== undefined || !this.#isNodePortAddress(destination)) return owner;
    return atPort.get(version === 4 ? 'IPv4' : 'IPv6');
  }
}

function ownersOf(rows: Iterable<Forwarding>): Owners {
  const owners: Owners = new Map();
  for (const row of rows) {
    for (const { kind, address, port, notServed } of row.frontends) {
      if (notServed !== undefined) continue;
      let atPort = owners.get(port);
      if (atPort === undefined) {
        atPort = new Map();
        owners.set(port, atPort);
      }
      atPort.set(kind === 'node-port' ? row.id.family : address, row);
    }
  }
  return owners;
}
