import type { Frontend, ServicePortId } from './model.ts';
import type { ReachablePort } from './service-ports.ts';

/** Whose claim comes first. What the API server assigns is nobody else's, whoever asks for it. */
export const ASSIGNED = 0;
export const BY_LOAD_BALANCER = 1;
export const BY_OWNER = 2;

type Rank = typeof ASSIGNED | typeof BY_LOAD_BALANCER | typeof BY_OWNER;

/**
 * A Service and the addresses that it wants with one rank. Of several with the same rank the oldest
 * has one; the name settles a tie.
 */
export interface Claimant {
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly createdAtSeconds: number;
  readonly rank: Rank;
  /** As `claimOf` writes them. */
  readonly claims: readonly string[];
}

/**
 * Keeps who claims which address and port, so that two Services that want the same one never
 * take turns. A Service claims an address once, however many of its ports share it.
 */
export class Claims {
  /** Nearly every claim has one claimant. */
  readonly #undisputed = new Map<string, Claimant>();
  /** The others, with all who make them, the first in line first. */
  readonly #disputed = new Map<string, readonly Claimant[]>();

  /** Gives the other Services that lose something to it, or to another than before. */
  enter(claimants: readonly Claimant[]): ReadonlySet<string> {
    let affected = NOBODY;
    for (const claimant of claimants) {
      for (const claim of claimant.claims) {
        const others = this.#othersOf(claim, claimant);
        const all = others.concat(claimant).sort(byPrecedence);
        this.#set(claim, all);
        if (all[0] === claimant) affected = withNames(affected, others);
      }
    }
    return affected;
  }

  /** Gives the other Services that get something from it, or lose it to another than before. */
  withdraw(claimants: readonly Claimant[]): ReadonlySet<string> {
    let affected = NOBODY;
    for (const claimant of claimants) {
      for (const claim of claimant.claims) {
        const left = this.#othersOf(claim, claimant);
        const wasFirst = this.#disputed.get(claim)?.[0] === claimant;
        this.#set(claim, left);
        if (wasFirst) affected = withNames(affected, left);
      }
    }
    return affected;
  }

  /** Whether any Service at all has lost an address to another. */
  get isDisputed(): boolean {
    return this.#disputed.size > 0;
  }

  /** Who has the address, if it is another Service. */
  lostTo(claim: string, service: string): Claimant | undefined {
    const winner = this.#disputed.get(claim)?.[0];
    return winner?.service === service ? undefined : winner;
  }

  /** Who has the address, whichever Service that is. */
  winner(claim: string): Claimant | undefined {
    return this.#undisputed.get(claim) ?? this.#disputed.get(claim)?.[0];
  }

  #othersOf(claim: string, claimant: Claimant): Claimant[] {
    const sole = this.#undisputed.get(claim);
    const all = sole === undefined ? (this.#disputed.get(claim) ?? []) : [sole];
    return all.filter((other) => other.service !== claimant.service);
  }

  #set(claim: string, claimants: readonly Claimant[]): void {
    const [first, ...more] = claimants;
    if (first !== undefined && more.length === 0) this.#undisputed.set(claim, first);
    else this.#undisputed.delete(claim);
    if (more.length > 0) this.#disputed.set(claim, claimants);
    else this.#disputed.delete(claim);
  }
}

/** What tells the same address and port of two families and protocols apart. */
type Wire = Pick<ServicePortId, 'family' | 'protocol'>;

export function claimOf(id: Wire, frontend: Pick<Frontend, 'address' | 'port'>): string {
  return [id.family, id.protocol, frontend.address, frontend.port].join(' ');
}

/** The claim of a node port is that of a frontend without an address. */
export function nodePortClaim(id: Wire, port: number): string {
  return claimOf(id, { address: '', port });
}

/** What the API server assigned to a service port. */
export function assignedClaims({ id, clusterIP, port, nodePort }: ReachablePort): string[] {
  const own = claimOf(id, { address: clusterIP, port });
  return nodePort === 0 ? [own] : [own, nodePortClaim(id, nodePort)];
}

export function claimsAt(addresses: readonly string[], { id, port }: ReachablePort): string[] {
  return addresses.map((address) => claimOf(id, { address, port }));
}

/** Nearly every Service has no rival: it is spared a set. */
const NOBODY: ReadonlySet<string> = new Set();

function withNames(
  names: ReadonlySet<string>,
  claimants: readonly Claimant[],
): ReadonlySet<string> {
  if (claimants.length === 0) return names;
  const all = names === NOBODY ? new Set<string>() : (names as Set<string>);
  for (const { service } of claimants) all.add(service);
  return all;
}

function byPrecedence(a: Claimant, b: Claimant): number {
  return (
    a.rank - b.rank || a.createdAtSeconds - b.createdAtSeconds || (a.service < b.service ? -1 : 1)
  );
}
