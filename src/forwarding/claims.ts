import type { Frontend, ServicePortId } from './model.ts';
import type { ServicePort } from './service-ports.ts';

/** Who wants an address and port. Of several, the oldest has it; the name settles a tie. */
export interface Claimant {
  /** `namespace/name` of the Service. */
  readonly service: string;
  readonly createdAtSeconds: number;
}

/**
 * Keeps who claims which address and port, so that two Services that want the same one never
 * take turns. A Service claims an address once, however many of its ports share it.
 */
export class Claims {
  /** Nearly every claim has one claimant, who then stands here without a list around it. */
  readonly #claimants = new Map<string, Claimant | readonly Claimant[]>();
  readonly #byService = new Map<string, readonly string[]>();

  /** Replaces what a Service claims; gives the other Services whose standing may have changed. */
  replace(claimant: Claimant, claims: readonly string[]): Set<string> {
    const affected = this.withdraw(claimant.service);
    for (const claim of claims) {
      const others = this.#of(claim).filter((other) => other.service !== claimant.service);
      this.#set(claim, [...others, claimant].sort(bySeniority));
      for (const other of others) affected.add(other.service);
    }
    if (claims.length > 0) this.#byService.set(claimant.service, claims);
    return affected;
  }

  withdraw(service: string): Set<string> {
    const affected = new Set<string>();
    for (const claim of this.#byService.get(service) ?? []) {
      const left = this.#of(claim).filter((claimant) => claimant.service !== service);
      this.#set(claim, left);
      for (const other of left) affected.add(other.service);
    }
    this.#byService.delete(service);
    return affected;
  }

  /** The Service that has the address, if it is another one. */
  lostTo(claim: string, service: string): string | undefined {
    const winner = this.#of(claim)[0]?.service;
    return winner === undefined || winner === service ? undefined : winner;
  }

  #of(claim: string): readonly Claimant[] {
    const found = this.#claimants.get(claim);
    if (found === undefined) return [];
    return 'service' in found ? [found] : found;
  }

  #set(claim: string, claimants: readonly Claimant[]): void {
    const [only, ...more] = claimants;
    if (only === undefined) this.#claimants.delete(claim);
    else this.#claimants.set(claim, more.length === 0 ? only : claimants);
  }
}

export function claimOf(id: ServicePortId, frontend: Pick<Frontend, 'address' | 'port'>): string {
  return `${id.family} ${id.protocol} ${frontend.address} ${frontend.port}`;
}

/** Every address and port that a service port wants to be reached at. */
export function claimsOfPort(port: ServicePort): string[] {
  const addresses = [port.clusterIP, ...port.externalIPs, ...port.loadBalancerIPs];
  const claims = addresses.map((address) => claimOf(port.id, { address, port: port.port }));
  if (port.nodePort !== 0) claims.push(claimOf(port.id, { address: '', port: port.nodePort }));
  return claims;
}

function bySeniority(a: Claimant, b: Claimant): number {
  return a.createdAtSeconds - b.createdAtSeconds || (a.service < b.service ? -1 : 1);
}
