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
  readonly #claimants = new Map<string, Claimant[]>();
  readonly #byService = new Map<string, readonly string[]>();

  /** Replaces what a Service claims; gives the other Services whose standing may have changed. */
  replace(claimant: Claimant, claims: Iterable<string>): Set<string> {
    const affected = this.withdraw(claimant.service);
    const wanted = [...new Set(claims)];
    for (const claim of wanted) {
      const all = [...(this.#claimants.get(claim) ?? []), claimant].sort(bySeniority);
      this.#claimants.set(claim, all);
      for (const other of all) affected.add(other.service);
    }
    if (wanted.length > 0) this.#byService.set(claimant.service, wanted);
    affected.delete(claimant.service);
    return affected;
  }

  withdraw(service: string): Set<string> {
    const affected = new Set<string>();
    for (const claim of this.#byService.get(service) ?? []) {
      const left = (this.#claimants.get(claim) ?? []).filter((c) => c.service !== service);
      if (left.length === 0) this.#claimants.delete(claim);
      else this.#claimants.set(claim, left);
      for (const other of left) affected.add(other.service);
    }
    this.#byService.delete(service);
    return affected;
  }

  /** The Service that has the address, if it is another one. */
  lostTo(claim: string, service: string): string | undefined {
    const winner = this.#claimants.get(claim)?.[0]?.service;
    return winner === undefined || winner === service ? undefined : winner;
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
