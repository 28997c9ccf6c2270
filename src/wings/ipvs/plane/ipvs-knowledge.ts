import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { ServicePortKey } from '../../../forwarding/model.ts';
import type { Scheduler } from '../../../forwarding/scheduler.ts';
import { DrainingServers } from './draining.ts';
import { Hairpins } from './hairpins.ts';
import { type NodePortAddresses, nodePortAddresses } from './ipvs-node-port-addresses.ts';
import { Room } from './room.ts';
import { Claims } from './server-claims.ts';
import type { ServerState } from './server-state.ts';
import type { Translation } from './wanted.ts';

/** States of virtual servers, by `virtualServerId`. */
export type ServerStates = ReadonlyMap<string, ServerState>;

/** What translation needs beside the rows, and what was found of rows that are not as applied. */
export class Knowledge implements Translation {
  readonly scheduler: Scheduler;
  readonly claims = new Claims();
  readonly draining = new DrainingServers();
  readonly hairpins = new Hairpins();
  readonly room: Room;
  /** The row of each virtual server that gets new connections, for counters. */
  readonly owners = new Map<string, ServicePortKey>();
  /** What the kernel has of rows that are `unknown`. */
  readonly present = new Map<ServicePortKey, ServerStates>();
  /** Rows whose last write failed, with their virtual servers: to be read before the next write. */
  readonly doubtful = new Map<ServicePortKey, Set<string>>();
  /** Virtual servers that rows want and the plane behind has, as our table says it. */
  readonly rejected = new Set<string>();
  #facts: NodeFacts | undefined;
  addresses: NodePortAddresses = { IPv4: [], IPv6: [] };
  /** Changes with full inspections only: rows are not kept, and theirs have to be found. */
  own: ReadonlySet<string> = new Set();

  constructor(scheduler: Scheduler, mostWeight?: number) {
    this.scheduler = scheduler;
    this.room = new Room(mostWeight);
  }

  /** Undefined: not inspected yet. */
  get facts(): NodeFacts | undefined {
    return this.#facts;
  }

  setFacts(facts: NodeFacts): void {
    this.#facts = facts;
    this.addresses = nodePortAddresses(facts);
  }

  /** Whether every row that was applied is as it was applied. */
  get isCertain(): boolean {
    return this.#facts !== undefined && this.present.size === 0 && this.doubtful.size === 0;
  }

  /** Whether a virtual server is ours, drains or was, as far as it is known without a read. */
  isOurs(id: string): boolean {
    return this.owners.has(id) || this.draining.at(id) !== undefined;
  }

  ours(): ReadonlySet<string> {
    return new Set([...this.owners.keys(), ...this.draining.ids()]);
  }

  forget(): void {
    this.#facts = undefined;
    this.claims.clear();
    this.draining.clear();
    this.hairpins.reset([]);
    this.room.clear();
    this.owners.clear();
    this.present.clear();
    this.doubtful.clear();
    this.rejected.clear();
  }
}
