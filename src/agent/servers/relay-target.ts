import type { Endpoint } from '../../forwarding/model.ts';
import type { Random } from '../../time/retry-delay.ts';

/** The endpoints of one node port on loopback. */
export interface RelayRoute {
  readonly endpoints: readonly Endpoint[];
  /** 0: no session affinity. */
  readonly affinitySeconds: number;
}

/**
 * Chooses an endpoint for each connection. All clients on loopback have one address, so with
 * session affinity all share one endpoint until none has connected for the timeout.
 */
export class RelayTarget {
  readonly #random: Random;
  #route: RelayRoute;
  #kept: { readonly endpoint: Endpoint; usedAtMs: number } | undefined;

  constructor(route: RelayRoute, random: Random) {
    this.#route = route;
    this.#random = random;
  }

  take(route: RelayRoute): void {
    if (route.affinitySeconds !== this.#route.affinitySeconds) this.#kept = undefined;
    this.#route = route;
  }

  pick(nowMs: number): Endpoint | undefined {
    const { endpoints, affinitySeconds } = this.#route;
    const kept = this.#stillKept(nowMs);
    const endpoint = kept ?? endpoints[Math.floor(this.#random() * endpoints.length)];
    this.#kept = affinitySeconds > 0 && endpoint ? { endpoint, usedAtMs: nowMs } : undefined;
    return endpoint;
  }

  #stillKept(nowMs: number): Endpoint | undefined {
    const kept = this.#kept;
    const { endpoints, affinitySeconds } = this.#route;
    if (kept === undefined || nowMs - kept.usedAtMs > affinitySeconds * 1000) return undefined;
    return endpoints.find(
      ({ address, port }) => address === kept.endpoint.address && port === kept.endpoint.port,
    );
  }
}
