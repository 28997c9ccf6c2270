import type { Change } from '../../forwarding/table.ts';
import type { Netlink } from '../../linux/netlink/socket.ts';
import { NftConnection } from '../../linux/nftables/connection.ts';
import type {
  DataPlane,
  Desired,
  Difference,
  Drift,
  EndpointCount,
  Inspection,
  KernelFrontend,
  NodeFacts,
} from '../contract.ts';
import { TABLE_FAMILIES, TABLE_OF_FAMILY } from './chains.ts';
import { readCounters, readFrontends } from './counters.ts';
import { diffTables } from './diff.ts';
import { watchDrift } from './drift.ts';
import { inspectEverything, inspectSuspects } from './inspect.ts';
import { Knowledge } from './knowledge.ts';
import { reconfigure } from './reconfigure.ts';
import { asPlaneError, notInspected } from './refusal.ts';
import { partsOf } from './row.ts';
import { TABLES } from './sets.ts';
import { byName } from './state.ts';
import { Suspects } from './suspects.ts';
import { Transaction } from './transaction.ts';

export interface NftablesPlaneOptions {
  /** Opens the way to the kernel; another for reading beside, and one for events. */
  readonly openNetlink: (kind: 'requests' | 'events') => Netlink;
}

/**
 * The data plane on nftables: one table a family with a fixed number of chains, in which Services
 * are elements of maps. What it costs to change a Service does not depend on how many there are.
 */
export class NftablesPlane implements DataPlane {
  readonly mode = 'nftables';
  readonly #options: NftablesPlaneOptions;
  readonly #knowledge = new Knowledge();
  #connection: NftConnection | undefined;
  #suspects = new Suspects();

  constructor(options: NftablesPlaneOptions) {
    this.#options = options;
  }

  async inspect(desired: Desired, depth: 'everything' | 'suspects'): Promise<Inspection> {
    const suspects = this.#suspects;
    // What is touched from now on is for the next inspection.
    this.#suspects = new Suspects();
    const kernel = { connection: this.#kernel, knowledge: this.#knowledge };
    const { facts, present } = this.#knowledge;
    // Of rows that were found wrong before and are not written yet, more than suspects is amiss.
    const isCertain = facts !== undefined && present.size === 0 && suspects.scope !== 'everything';
    try {
      if (depth === 'everything' || !isCertain) return await inspectEverything(kernel, desired);
      await this.configure(desired.facts);
      return await inspectSuspects(kernel, desired, suspects);
    } catch (error) {
      this.#suspects.noteEverything();
      throw asPlaneError(error);
    }
  }

  async configure(facts: NodeFacts): Promise<void> {
    const before = this.#knowledge.facts;
    if (!before) throw notInspected();
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        reconfigure(batch, { family, before, after: facts, state: this.#knowledge.state(family) });
      }
      await this.#kernel.commit(batch);
      this.#knowledge.facts = facts;
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async apply(changes: readonly Change[]): Promise<void> {
    const { facts, numbers, present } = this.#knowledge;
    if (!facts) throw notInspected();
    const transactions = byName(TABLE_FAMILIES, (family) => {
      return new Transaction(this.#knowledge.state(family));
    });
    for (const { key, before, after } of changes) {
      const found = before ? undefined : present.get(key);
      // A row of which something was found, and that nobody wants any more, has neither.
      const family = (after ?? before)?.id.family ?? found?.family;
      if (family === undefined) continue;
      transactions[TABLE_OF_FAMILY[family]].replace(key, {
        before: found?.parts ?? partsOf(before, numbers),
        after: partsOf(after, numbers),
      });
    }
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) transactions[family].write(batch, facts);
      await this.#kernel.commit(batch);
    } catch (error) {
      throw asPlaneError(error);
    }
    for (const family of TABLE_FAMILIES) this.#settle(transactions[family]);
    if (present.size > 0) for (const { key } of changes) present.delete(key);
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    using connection = this.#anotherConnection();
    return await diffTables(connection, desired);
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    await watchDrift(
      {
        netlink: this.#options.openNetlink('events'),
        isOurs: (portId) => portId === this.#connection?.portId,
        suspects: () => this.#suspects,
      },
      onDrift,
      signal,
    );
  }

  async counters(): Promise<readonly EndpointCount[]> {
    using connection = this.#anotherConnection();
    return await readCounters(connection);
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    using connection = this.#anotherConnection();
    return await readFrontends(connection);
  }

  async remove(): Promise<void> {
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        // Deleting what is not there is refused; made first, it is there.
        batch.addTable(TABLES[family], '');
        batch.deleteTable(TABLES[family]);
      }
      await this.#kernel.commit(batch);
      this.#knowledge.forget();
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  /** Operations that the kernel has taken since the start. */
  get writtenCount(): number {
    return this.#connection?.writtenCount ?? 0;
  }

  get #kernel(): NftConnection {
    this.#connection ??= new NftConnection(this.#options.openNetlink('requests'));
    return this.#connection;
  }

  /** For what is read while changes go on. */
  #anotherConnection(): NftConnection {
    return new NftConnection(this.#options.openNetlink('requests'));
  }

  #settle(transaction: Transaction): void {
    transaction.settle();
    if (!this.#suspects.hasElements) return;
    for (const place of transaction.touched()) this.#suspects.clearElement(place);
  }
}
