import type { VirtualServer } from '../../../linux/ipvs/ipvs-model.ts';
import type { Drain } from './server-plan.ts';
import { NO_SERVER, type ServerState } from './server-state.ts';

export interface Draining {
  readonly server: VirtualServer;
  readonly destinations: Set<string>;
  readonly isRetired: boolean;
}

/** Destinations of weight 0 that are deleted when their last connection has ended. */
export class DrainingServers {
  readonly #servers = new Map<string, Draining>();

  entries(): readonly (readonly [id: string, Draining])[] {
    return [...this.#servers];
  }

  ids(): Iterable<string> {
    return this.#servers.keys();
  }

  at(id: string): Draining | undefined {
    return this.#servers.get(id);
  }

  /** What the kernel has of a virtual server that no row wants any more. */
  stateOfRetired(id: string): ServerState {
    const draining = this.#servers.get(id);
    if (!draining?.isRetired) return NO_SERVER;
    const { server, destinations } = draining;
    const others = new Map([...destinations].map((each) => [each, 0]));
    return { ...NO_SERVER, server, others, isListed: true };
  }

  /** Replaces what drains of a virtual server. */
  set(id: string, drain: Drain | undefined): void {
    if (drain === undefined) this.#servers.delete(id);
    else this.#servers.set(id, { ...drain, destinations: new Set(drain.destinations) });
  }

  /** These destinations are gone, or no longer of weight 0. */
  forget(id: string, destinations: Iterable<string>): void {
    const draining = this.#servers.get(id);
    if (draining === undefined) return;
    for (const each of destinations) draining.destinations.delete(each);
    if (draining.destinations.size === 0 && !draining.isRetired) this.#servers.delete(id);
  }

  clear(): void {
    this.#servers.clear();
  }
}
