import type { Frontend, ServicePortId } from './model.ts';
import type { ReachablePort } from './service-ports.ts';

/** Precedence of claims. Addresses that the API server assigned come first. */
export const ASSIGNED = 0;
export const BY_LOAD_BALANCER = 1;
export const BY_OWNER = 2;

type Rank = typeof ASSIGNED | typeof BY_LOAD_BALANCER | typeof BY_OWNER;

/**
 * A Service and the addresses that it claims with one rank. Among equal ranks the oldest Service
 * wins, then the name.
 */
export interface Claimant {
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly createdAtSeconds: number;
  readonly rank: Rank;
  /** As `claimOf` writes them. */
  readonly claims: readonly string[];
}

/** A claim of several Services: tens of thousands may claim the same address. */
interface Dispute {
  first: Claimant;
  /** By Service, the first included. */
  readonly all: Map<string, Claimant>;
}

/**
 * Records which Services claim which address and port, so that the owner is stable. A Service
 * claims an address once, for all of its ports that share it.
 */
export class Claims {
  /** Nearly every claim has one claimant. */
  readonly #undisputed = new Map<string, Claimant>();
  readonly #disputed = new Map<string, Dispute>();
  /** Services to recompute when the owner of a claim that is not theirs changes, by claim. */
  readonly #watchers = new Map<string, Set<string>>();

  /** Returns the other Services that lose an address to it, or to a new owner. */
  enter(claimants: readonly Claimant[]): ReadonlySet<string> {
    const affected = new Affected(this.#watchers);
    for (const claimant of claimants) {
      for (const claim of claimant.claims) this.#enter(claim, claimant, affected);
    }
    return affected.names;
  }

  /** Returns the other Services that gain an address, or lose it to a new owner. */
  withdraw(claimants: readonly Claimant[]): ReadonlySet<string> {
    const affected = new Affected(this.#watchers);
    for (const claimant of claimants) {
      for (const claim of claimant.claims) this.#withdraw(claim, claimant, affected);
    }
    return affected.names;
  }

  /** Adds the Service to the affected ones when the owner of a claim changes. */
  watch(claims: readonly string[], service: string): void {
    for (const claim of claims) {
      const watchers = this.#watchers.get(claim) ?? new Set();
      this.#watchers.set(claim, watchers.add(service));
    }
  }

  unwatch(claims: readonly string[], service: string): void {
    for (const claim of claims) {
      const watchers = this.#watchers.get(claim);
      watchers?.delete(service);
      if (watchers?.size === 0) this.#watchers.delete(claim);
    }
  }

  /** Whether any Service lost an address to another. */
  get isDisputed(): boolean {
    return this.#disputed.size > 0;
  }

  /** Owner of the address, if it is another Service. */
  lostTo(claim: string, service: string): Claimant | undefined {
    const winner = this.#disputed.get(claim)?.first;
    return winner?.service === service ? undefined : winner;
  }

  /** Owner of the address. */
  winner(claim: string): Claimant | undefined {
    return this.#undisputed.get(claim) ?? this.#disputed.get(claim)?.first;
  }

  #enter(claim: string, claimant: Claimant, affected: Affected): void {
    const winner = this.winner(claim);
    if (winner === undefined || winner.service === claimant.service) {
      // Duplicate claims of one Service count once.
      if (winner !== claimant) this.#undisputed.set(claim, claimant);
      affected.addWatchers(claim);
      return;
    }
    const dispute = this.#disputed.get(claim) ?? { first: winner, all: listed(winner) };
    dispute.all.set(claimant.service, claimant);
    this.#undisputed.delete(claim);
    this.#disputed.set(claim, dispute);
    if (byPrecedence(claimant, winner) > 0) return;
    dispute.first = claimant;
    affected.add(dispute.all.keys());
    affected.addWatchers(claim);
  }

  #withdraw(claim: string, claimant: Claimant, affected: Affected): void {
    const { service } = claimant;
    if (this.#undisputed.get(claim)?.service === service) {
      this.#undisputed.delete(claim);
      affected.addWatchers(claim);
    }
    const dispute = this.#disputed.get(claim);
    if (!dispute?.all.delete(service)) return;
    const wasFirst = dispute.first.service === service;
    if (wasFirst) {
      dispute.first = firstOf(dispute.all);
      affected.add(dispute.all.keys());
      affected.addWatchers(claim);
    }
    if (dispute.all.size > 1) return;
    this.#disputed.delete(claim);
    this.#undisputed.set(claim, dispute.first);
  }
}

/** Names of Services. Nearly every Service has no rival, so no set is allocated for it. */
class Affected {
  readonly #watchers: ReadonlyMap<string, ReadonlySet<string>>;
  #names: Set<string> | undefined;

  constructor(watchers: ReadonlyMap<string, ReadonlySet<string>>) {
    this.#watchers = watchers;
  }

  get names(): ReadonlySet<string> {
    return this.#names ?? NOBODY;
  }

  add(names: Iterable<string>): void {
    this.#names ??= new Set();
    for (const name of names) this.#names.add(name);
  }

  addWatchers(claim: string): void {
    const watchers = this.#watchers.get(claim);
    if (watchers !== undefined) this.add(watchers);
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function listed(claimant: Claimant): Map<string, Claimant> {
  return new Map([[claimant.service, claimant]]);
}

function firstOf(all: ReadonlyMap<string, Claimant>): Claimant {
  return [...all.values()].reduce((a, b) => (byPrecedence(a, b) < 0 ? a : b));
}

/** Key of an address and port, by family and protocol. */
type Wire = Pick<ServicePortId, 'family' | 'protocol'>;

export function claimOf(id: Wire, frontend: Pick<Frontend, 'address' | 'port'>): string {
  return [id.family, id.protocol, frontend.address, frontend.port].join(' ');
}

/** A node port is a claim without an address. */
export function nodePortClaim(id: Wire, port: number): string {
  return claimOf(id, { address: '', port });
}

/** Claims of what the API server assigned to a service port. */
export function assignedClaims({ id, clusterIP, port, nodePort }: ReachablePort): string[] {
  const own = claimOf(id, { address: clusterIP, port });
  return nodePort === 0 ? [own] : [own, nodePortClaim(id, nodePort)];
}

export function claimsAt(addresses: readonly string[], { id, port }: ReachablePort): string[] {
  return addresses.map((address) => claimOf(id, { address, port }));
}

function byPrecedence(a: Claimant, b: Claimant): number {
  return (
    a.rank - b.rank || a.createdAtSeconds - b.createdAtSeconds || (a.service < b.service ? -1 : 1)
  );
}
