import type { Forwarding, Frontend, ServicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';
import { type AddressBytes, addressText } from '../linux/conntrack/address-bytes.ts';
import type { Flow } from '../linux/conntrack/flow.ts';

/** TCP rows that recently started to forward, so that clients may have connected too early. */
export class BegunRows {
  /** At a start these are all rows of a cluster: no keys are built for them. */
  #adopted: readonly Forwarding[] = [];
  readonly #noted = new Map<ServicePortKey, Forwarding>();

  get size(): number {
    return this.#adopted.length + this.#noted.size;
  }

  *[Symbol.iterator](): Generator<Forwarding> {
    yield* this.#adopted;
    yield* this.#noted.values();
  }

  /** All of these may have started while flows were not checked. */
  adopt(rows: readonly Forwarding[]): void {
    this.#adopted = rows.filter((row) => isTcp(row) && forwards(row));
  }

  /**
   * Only changes from no endpoint to some count: there may be a thousand endpoint changes per
   * second, and each pass costs the kernel a scan of its conntrack table.
   */
  note(changes: readonly Change[]): void {
    for (const { key, before, after } of changes) {
      if (after === undefined || !isTcp(after) || !forwards(after)) this.#noted.delete(key);
      else if (this.#noted.has(key) || begins(before, after)) this.#noted.set(key, after);
    }
  }

  /** Returns the current state of the frontends to check. */
  follow(changes: readonly Change[]): void {
    this.note(changes.filter(({ key }) => this.#noted.has(key)));
  }

  want(key: ServicePortKey, row: Forwarding): void {
    this.#noted.set(key, row);
  }

  /** Puts back rows that were taken but not checked. */
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
 * Owners of the frontends of such rows. At a start these are all of a cluster and hardly any is
 * needed: they are sorted on first use.
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
