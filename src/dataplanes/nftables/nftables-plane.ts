import type { Forwarding } from '../../forwarding/model.ts';
import type { Netlink } from '../../linux/netlink/netlink-socket.ts';
import { GenerationWatch } from '../../linux/nftables/generation-watch.ts';
import { type CommitCount, NftConnection } from '../../linux/nftables/nft-connection.ts';
import type {
  AffinityFill,
  Attachment,
  DataPlane,
  Desired,
  Difference,
  Drift,
  EndpointCount,
  Holding,
  Inspection,
  InspectionDepth,
  KernelFrontend,
  NodeFacts,
  Readers,
  ReadingKey,
  Readings,
  RejectedCount,
  RowChange,
} from '../contract.ts';
import { watchRuleEvents } from '../shared/rule-events.ts';
import { readAffinityFill } from './affinity-fill.ts';
import { type ForwarderPorts, ForwarderTargets, readNotHandedOver } from './forwarder-targets.ts';
import { inspectEverything, inspectSuspects } from './inspect-nftables.ts';
import type { KeptRow } from './kept-frontends.ts';
import { LargeRows } from './large-rows.ts';
import { asPlaneError, notInspected } from './nft-rejection.ts';
import { TABLE_FAMILIES } from './nftables-chains.ts';
import { readCounters, readFrontends, readInventory } from './nftables-counters.ts';
import { diffTables } from './nftables-diff.ts';
import { concernsUs, objectsOf } from './nftables-drift.ts';
import { Knowledge } from './nftables-knowledge.ts';
import { TABLES } from './nftables-sets.ts';
import { Suspects } from './nftables-suspects.ts';
import { Transaction } from './nftables-transaction.ts';
import { abandonRow, type PlannedRow, planRow, settleRow } from './planned-row.ts';
import { reconfigure } from './reconfigure-nftables.ts';
import { readRejected } from './rejected-counts.ts';
import { readRowCounters } from './row-counters.ts';
import { perform } from './row-plan.ts';
import { byName } from './state.ts';
import type { DesiredTables, TableFacts } from './table-facts.ts';

/**
 * The kernel holds about 8 KB for each element of a transaction until it commits: 800 MB for a
 * hundred thousand in one, and in parts of this size no more than stays, in no more time.
 */
const OBJECTS_PER_STEP = 2000;

export interface NftablesPlaneOptions {
  /** Opens a netlink socket: one for writes, one for each concurrent read, one for events. */
  readonly openNetlink: (kind: 'requests' | 'events') => Netlink;
  /** TCP connections go to the forwarder where `setForwarder` says, and to endpoints otherwise. */
  readonly forwarder?: true;
}

/**
 * The data plane on nftables: one table per family with a fixed number of chains, in which Services
 * are elements of maps. The cost of changing a Service does not depend on how many there are.
 */
export class NftablesPlane implements DataPlane {
  readonly mode = 'nftables';
  readonly objectsPerStep = OBJECTS_PER_STEP;
  readonly #options: NftablesPlaneOptions;
  readonly #knowledge = new Knowledge();
  #connection: NftConnection | undefined;
  #suspects = new Suspects();
  #largeRows = new LargeRows();
  #isInspected = false;
  #onDrift: ((drift: Drift) => void) | undefined;
  #forwarder:
    | { readonly connection: NftConnection; readonly targets: ForwarderTargets }
    | undefined;

  constructor(options: NftablesPlaneOptions) {
    this.#options = options;
  }

  async inspect(wanted: Desired, depth: InspectionDepth): Promise<Inspection> {
    const desired = this.#tables(wanted);
    const suspects = this.#suspects;
    // Changes reported from now on are for the next inspection.
    this.#suspects = new Suspects();
    const kernel = { connection: this.#kernel, knowledge: this.#knowledge };
    const { facts, present } = this.#knowledge;
    // Rows that were found wrong and are not written yet differ in more than the reported changes.
    const isWritten = present.size === 0 && this.#largeRows.isEmpty;
    const isCertain = facts !== undefined && isWritten && suspects.scope !== 'everything';
    try {
      if (depth === 'everything' || !isCertain) {
        this.#largeRows = new LargeRows();
        const isFirst = !this.#isInspected;
        const inspection = await inspectEverything(kernel, desired, { isFirst });
        this.#isInspected = true;
        // It may have made the table again, without what is not written by rows.
        this.#forwarder?.targets.mistrust();
        return inspection;
      }
      await this.configure(desired.facts);
      return await inspectSuspects(kernel, desired, suspects);
    } catch (error) {
      this.#suspects.noteEverything();
      throw asPlaneError(error);
    }
  }

  async configure(nodeFacts: NodeFacts): Promise<void> {
    const facts = this.#tableFacts(nodeFacts);
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

  async apply(changes: readonly RowChange[]): Promise<void> {
    const { facts } = this.#knowledge;
    if (!facts) throw notInspected();
    const transactions = byName(TABLE_FAMILIES, (family) => {
      return new Transaction(this.#knowledge.state(family));
    });
    const planned = changes.map((change) => planRow(this.#knowledge, change));
    for (const { key, family, plan } of planned) {
      for (const step of plan.steps) perform(step, key, transactions[family]);
    }
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) transactions[family].write(batch, facts);
      await this.#kernel.commit(batch);
    } catch (error) {
      for (const row of planned.toReversed()) abandonRow(this.#knowledge, row);
      throw asPlaneError(error);
    }
    for (const family of TABLE_FAMILIES) this.#settle(transactions[family]);
    for (const row of planned) this.#settleRow(row);
  }

  async applyPart(change: RowChange): Promise<'unfinished' | 'finished'> {
    const { facts } = this.#knowledge;
    if (!facts) throw notInspected();
    const part = await this.#largeRows.begin(this.#knowledge, change);
    // Another row is writing or removing the same long list of source ranges.
    if (part === 'must wait') return 'unfinished';
    const transaction = new Transaction(this.#knowledge.state(part.family));
    const position = part.progress.next(transaction, OBJECTS_PER_STEP);
    try {
      const batch = this.#kernel.begin();
      transaction.write(batch, facts);
      await this.#kernel.commit(batch);
    } catch (error) {
      this.#largeRows.abandon(this.#knowledge, part);
      this.#suspects.noteEverything();
      throw asPlaneError(error);
    }
    this.#settle(transaction);
    if (!part.progress.acknowledge(position)) return 'unfinished';
    this.#largeRows.finish(part);
    this.#settleRow(part);
    return 'finished';
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    using connection = this.#anotherConnection();
    return await diffTables(connection, this.#tables(desired));
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    this.#onDrift = onDrift;
    using reader = this.#anotherConnection();
    const losses = new GenerationWatch({
      generation: () => reader.generation(),
      ownCommits: () => this.#commits(),
    });
    const events = {
      netlink: this.#options.openNetlink('events'),
      isOurs: (portId: number) =>
        portId === this.#connection?.portId || portId === this.#forwarder?.connection.portId,
      concerns: concernsUs,
      describe: objectsOf,
      reported: () => this.#suspects,
      losses,
    };
    await watchRuleEvents(events, onDrift, signal);
  }

  /**
   * From now on, for some seconds, new TCP connections go to these ports of this machine; undefined:
   * to endpoints. May be called beside all other calls.
   */
  async setForwarder(ports: ForwarderPorts | undefined): Promise<void> {
    await this.#targets.set(ports);
  }

  /** These rows are not handed over; without frontends, they are again. */
  async keepFromForwarder(rows: readonly KeptRow[]): Promise<void> {
    await this.#targets.keep(rows);
  }

  /** New TCP connections that went to endpoints although the forwarder takes such ones. */
  async notHandedOverCount(): Promise<number> {
    using connection = this.#anotherConnection();
    return await readNotHandedOver(connection);
  }

  async read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined> {
    return await (this as Readers)[key]?.(rows);
  }

  async counters(rows?: readonly Forwarding[]): Promise<readonly EndpointCount[]> {
    using connection = this.#anotherConnection();
    if (rows === undefined) return await readCounters(connection);
    return await readRowCounters(connection, this.#knowledge, rows);
  }

  async rejected(): Promise<readonly RejectedCount[] | undefined> {
    using connection = this.#anotherConnection();
    return await readRejected(connection);
  }

  async affinityFill(): Promise<AffinityFill> {
    using connection = this.#anotherConnection();
    return await readAffinityFill(connection);
  }

  /** A table is attached by its base chains. */
  async attachments(): Promise<readonly Attachment[]> {
    using connection = this.#anotherConnection();
    const attachments: Attachment[] = [];
    for (const family of TABLE_FAMILIES) {
      const chains = await connection.chains(TABLES[family]);
      const isAttached = chains.some(({ base }) => base !== undefined);
      const name = `table ${family} ${TABLES[family].name}`;
      attachments.push({ place: 'nftables', name, isAttached });
    }
    return attachments;
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    using connection = this.#anotherConnection();
    return await readFrontends(connection);
  }

  async inventory(): Promise<readonly Holding[]> {
    try {
      using connection = this.#anotherConnection();
      return await readInventory(connection);
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async remove(): Promise<void> {
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        // The kernel rejects the deletion of a table that does not exist, so create it first.
        batch.addTable(TABLES[family], '');
        batch.deleteTable(TABLES[family]);
      }
      await this.#kernel.commit(batch);
      this.#knowledge.forget();
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  /** Operations that the kernel has accepted since the start. */
  get writtenCount(): number {
    return this.#connection?.writtenCount ?? 0;
  }

  #tableFacts(facts: NodeFacts): TableFacts {
    return this.#options.forwarder ? { ...facts, handsOver: true } : facts;
  }

  #tables({ facts, rows }: Desired): DesiredTables {
    return { facts: this.#tableFacts(facts), rows };
  }

  /** Of every connection that writes. */
  #commits(): CommitCount {
    const all = [this.#kernel.commits, this.#forwarder?.connection.commits].filter(
      (each) => each !== undefined,
    );
    return {
      done: all.reduce((sum, { done }) => sum + done, 0),
      isUnderWay: all.some(({ isUnderWay }) => isUnderWay),
    };
  }

  get #targets(): ForwarderTargets {
    if (this.#forwarder === undefined) {
      const connection = this.#anotherConnection();
      this.#forwarder = { connection, targets: new ForwarderTargets(connection) };
    }
    return this.#forwarder.targets;
  }

  get #kernel(): NftConnection {
    this.#connection ??= new NftConnection(this.#options.openNetlink('requests'));
    return this.#connection;
  }

  /** For reads beside changes. */
  #anotherConnection(): NftConnection {
    return new NftConnection(this.#options.openNetlink('requests'));
  }

  /** When every row is in our maps, a full inspection replaces the rules of an earlier version. */
  #settleRow(row: PlannedRow): void {
    settleRow(this.#knowledge, row);
    if (!this.#knowledge.takeover.written(row.key)) return;
    this.#suspects.noteEverything();
    const what = 'every row is written; rules of an earlier version are removed';
    this.#onDrift?.({ what });
  }

  #settle(transaction: Transaction): void {
    transaction.settle();
    if (!this.#suspects.hasElements) return;
    for (const place of transaction.touched()) this.#suspects.clearElement(place);
  }
}
