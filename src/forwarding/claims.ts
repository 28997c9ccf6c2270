import type { Frontend, ServicePortId } from './model.ts';
import type { ReachablePort } from './service-ports.ts';

/** Who wants which addresses. Of several, the oldest has one; the name settles a tie. */
export interface Claimant {
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly createdAtSeconds: number;
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
  /** The others, with all who make them, the oldest first. */
  readonly #disputed = new Map<string, readonly Claimant[]>();

  /** Gives the other Services that lose something to it, or to another than before. */
  enter(claimant: Claimant): ReadonlySet<string> {
    let affected = NOBODY;
    for (const claim of claimant.claims) {
      const others = this.#othersOf(claim, claimant);
      const all = others.concat(claimant).sort(bySeniority);
      this.#set(claim, all);
      if (all[0] === claimant) affected = withNames(affected, others);
    }
    return affected;
  }

  /** Gives the other Services that get something from it, or lose it to another than before. */
  withdraw(claimant: Claimant): ReadonlySet<string> {
    let affected = NOBODY;
    for (const claim of claimant.claims) {
      const left = this.#othersOf(claim, claimant);
      const wasFirst = this.#disputed.get(claim)?.[0] === claimant;
      this.#set(claim, left);
      if (wasFirst) affected = withNames(affected, left);
    }
    return affected;
  }

  /** Whether any Service at all has lost an address to another. */
  get isDisputed(): boolean {
    return this.#disputed.size > 0;
  }

  /** The Service that has the address, if it is another one. */
  lostTo(claim: string, service: string): string | undefined {
    const winner = this.#disputed.get(claim)?.[0]?.service;
    return winner === service ? undefined : winner;
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

export function claimOf(id: ServicePortId, frontend: Pick<Frontend, 'address' | 'port'>): string {
  return [id.family, id.protocol, frontend.address, frontend.port].join(' ');
}

/** Every address and port that a service port wants to be reached at. */
export function claimsOfPort(port: ReachablePort): string[] {
  const addresses = [port.clusterIP, ...port.externalIPs, ...port.loadBalancerIPs];
  const claims = addresses.map((address) => claimOf(port.id, { address, port: port.port }));
  if (port.nodePort !== 0) claims.push(claimOf(port.id, { address: '', port: port.nodePort }));
  return claims;
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

function bySeniority(a: Claimant, b: Claimant): number {
  return a.createdAtSeconds - b.createdAtSeconds || (a.service < b.service ? -1 : 1);
}
