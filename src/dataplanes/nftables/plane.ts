import {
  type Family,
  type Forwarding,
  type ServicePortKey,
  servicePortKey,
} from '../../forwarding/model.ts';
import type { Change } from '../../forwarding/table.ts';
import type { Netlink } from '../../linux/netlink/socket.ts';
import { NftConnection, NftRefusal } from '../../linux/nftables/connection.ts';
import type { TableFamily } from '../../linux/nftables/protocol.ts';
import {
  type DataPlane,
  type Desired,
  type Difference,
  type Drift,
  type EndpointCount,
  type Inspection,
  type KernelFrontend,
  type NodeFacts,
  PlaneError,
} from '../contract.ts';
import { preparedChains, TABLE_FAMILIES, TABLE_OF_FAMILY } from './chains.ts';
import { Comparison, Differences } from './comparison.ts';
import { readCounters, readFrontends } from './counters.ts';
import { watchDrift } from './drift.ts';
import { type ElementView, emptyView, readView, SuspectView } from './element-view.ts';
import type { SharedElement } from './elements.ts';
import {
  isUnmendable,
  mendFixedParts,
  NO_FIXED_PARTS,
  readFixedParts,
  type StoredFixedParts,
  storedClasses,
  uniqueClasses,
} from './fixed-parts.ts';
import { Numbers } from './numbers.ts';
import { reconfigure } from './reconfigure.ts';
import { partsOf, type RowParts } from './row.ts';
import { TABLES } from './sets.ts';
import { addClass, byName, count, emptyState, knownClasses, type TableState } from './state.ts';
import { Suspects } from './suspects.ts';
import { Transaction } from './transaction.ts';

/** Larger transactions hold up the kernel, and whoever else wants to change rules, for too long. */
const MOST_OPERATIONS = 1000;

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
  #connection: NftConnection | undefined;
  #facts: NodeFacts | undefined;
  #states = newStates();
  #suspects = new Suspects();
  readonly #numbers = new Numbers();
  /** What the kernel has of rows that an inspection did not find right. */
  readonly #present = new Map<ServicePortKey, { family: Family; parts: RowParts }>();

  constructor(options: NftablesPlaneOptions) {
    this.#options = options;
  }

  async inspect(desired: Desired, depth: 'everything' | 'suspects'): Promise<Inspection> {
    const suspects = this.#suspects;
    // What is touched from now on is for the next inspection.
    this.#suspects = new Suspects();
    try {
      // Of rows that were found wrong before and are not written yet, more than suspects is amiss.
      const isCertain = this.#facts !== undefined && this.#present.size === 0;
      return depth === 'suspects' && isCertain && suspects.scope !== 'everything'
        ? await this.#inspectSuspects(desired, suspects)
        : await this.#inspectEverything(desired);
    } catch (error) {
      this.#suspects.noteEverything();
      throw asPlaneError(error);
    }
  }

  async configure(facts: NodeFacts): Promise<void> {
    const before = this.#facts;
    if (!before) throw notInspected();
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        reconfigure(batch, { family, before, after: facts, state: this.#states[family] });
      }
      await this.#kernel.commit(batch);
      this.#facts = facts;
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async apply(changes: readonly Change[]): Promise<void> {
    if (!this.#facts) throw notInspected();
    const transactions = byName(TABLE_FAMILIES, (family) => new Transaction(this.#states[family]));
    for (const change of changes) {
      const { key, before, after } = change;
      const present = before ? undefined : this.#present.get(key);
      // A row of which something was found, and that nobody wants any more, has neither.
      const family = (after ?? before)?.id.family ?? present?.family;
      if (family === undefined) continue;
      transactions[TABLE_OF_FAMILY[family]].replace(key, {
        before: present?.parts ?? partsOf(before, this.#numbers),
        after: partsOf(after, this.#numbers),
      });
    }
    try {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) transactions[family].write(batch, this.#facts);
      await this.#kernel.commit(batch);
    } catch (error) {
      throw asPlaneError(error);
    }
    for (const family of TABLE_FAMILIES) this.#settle(transactions[family]);
    if (this.#present.size > 0) for (const { key } of changes) this.#present.delete(key);
  }

  async diff(desired: Desired): Promise<readonly Difference[]> {
    using connection = new NftConnection(this.#options.openNetlink('requests'));
    const numbers = new Numbers();
    const differences = new Differences();
    const rows = [...desired.rows];
    for (const family of TABLE_FAMILIES) {
      const found = await readFixedParts(connection, family);
      const isOther = isUnmendable(found, desired.facts, family);
      if (isOther)
        differences.add(() => ({ kind: 'different', object: `table ${family} fairlead` }));
      const stored = isOther ? NO_FIXED_PARTS : found;
      const view = isOther ? emptyView() : await readView(connection, family);
      const comparison = new Comparison({ family, view, numbers, differences });
      for (const row of rows) {
        if (TABLE_OF_FAMILY[row.id.family] === family) comparison.compare(row);
      }
      for (const _ of comparison.leftovers());
      const classes = uniqueClasses([...storedClasses(stored), ...comparison.classes]);
      const wanted = { facts: desired.facts, classes };
      mendFixedParts(connection.begin(), { family, stored, wanted, differences });
    }
    return differences.described;
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
    using connection = new NftConnection(this.#options.openNetlink('requests'));
    return await readCounters(connection);
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    using connection = new NftConnection(this.#options.openNetlink('requests'));
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
      this.#forget();
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

  #forget(): void {
    this.#facts = undefined;
    this.#states = newStates();
    this.#present.clear();
  }

  #settle(transaction: Transaction): void {
    transaction.settle();
    if (!this.#suspects.hasElements) return;
    for (const place of transaction.touched()) this.#suspects.clearElement(place);
  }

  /** Reads both tables whole, and believes nothing. */
  async #inspectEverything({ facts, rows }: Desired): Promise<Inspection> {
    this.#forget();
    const differences = new Differences();
    const stored = byName(TABLE_FAMILIES, () => NO_FIXED_PARTS);
    const views = byName(TABLE_FAMILIES, () => emptyView());
    for (const family of TABLE_FAMILIES) {
      const found = await readFixedParts(this.#kernel, family);
      if (isUnmendable(found, facts, family)) await this.#delete(family);
      else stored[family] = found;
      if (stored[family].structure.sets.length > 0) {
        views[family] = await readView(this.#kernel, family);
      }
    }
    return await this.#compare({ facts, rows }, { stored, views, differences });
  }

  async #inspectSuspects(desired: Desired, suspects: Suspects): Promise<Inspection> {
    const { facts } = desired;
    await this.configure(facts);
    const differences = new Differences();
    const stored: Partial<Record<TableFamily, StoredFixedParts>> = {};
    const views = byName(
      TABLE_FAMILIES,
      (family): ElementView => new SuspectView(suspects, family),
    );
    if (suspects.scope === 'structure') {
      for (const family of TABLE_FAMILIES) {
        const found = await readFixedParts(this.#kernel, family);
        if (isUnmendable(found, facts, family)) return await this.#inspectEverything(desired);
        stored[family] = found;
      }
    }
    return await this.#compare(desired, { stored, views, differences });
  }

  async #compare(
    { facts, rows }: Desired,
    found: {
      readonly stored: Partial<Record<TableFamily, StoredFixedParts>>;
      readonly views: Record<TableFamily, ElementView>;
      readonly differences: Differences;
    },
  ): Promise<Inspection> {
    const { stored, views, differences } = found;
    const isFirst = this.#facts === undefined;
    const comparisons = byName(TABLE_FAMILIES, (family) => {
      const view = views[family];
      return new Comparison({ family, view, numbers: this.#numbers, differences });
    });
    const right = new Set<ServicePortKey>();
    for (const row of rows) {
      const family = TABLE_OF_FAMILY[row.id.family];
      const { parts, present } = comparisons[family].compare(row);
      const key = servicePortKey(row.id);
      if (present) this.#notePresent(row, { key, parts, present, wasCounted: !isFirst });
      else right.add(key);
      if (!present && isFirst) this.#countShared(family, parts.shared, 1);
    }
    const writtenBefore = this.writtenCount;
    this.#facts ??= facts;
    await this.#mend(stored, comparisons, differences);
    for (const family of TABLE_FAMILIES) await this.#sweep(family, comparisons[family]);
    return {
      right,
      differences: differences.described,
      differenceCount: differences.count,
      writeCount: this.writtenCount - writtenBefore,
    };
  }

  /** Shared elements that the row is missing are no longer counted for it, the others are. */
  #notePresent(
    row: Forwarding,
    of: { key: ServicePortKey; parts: RowParts; present: RowParts; wasCounted: boolean },
  ): void {
    const { parts, present } = of;
    const { family } = row.id;
    this.#present.set(of.key, { family, parts: present });
    const missing = parts.shared.filter((element) => !present.shared.includes(element));
    if (of.wasCounted) this.#countShared(TABLE_OF_FAMILY[family], missing, -1);
    else this.#countShared(TABLE_OF_FAMILY[family], present.shared, 1);
  }

  #countShared(family: TableFamily, shared: readonly SharedElement[], by: number): void {
    const { wanted } = this.#states[family];
    for (const { set, key } of shared) count(wanted[set], key, by);
  }

  async #mend(
    stored: Partial<Record<TableFamily, StoredFixedParts>>,
    comparisons: Record<TableFamily, Comparison>,
    differences: Differences,
  ): Promise<void> {
    const facts = this.#facts;
    if (!facts) throw notInspected();
    for (const family of TABLE_FAMILIES) {
      const found = stored[family];
      if (!found) continue;
      const state = this.#states[family];
      for (const each of [...storedClasses(found), ...comparisons[family].classes]) {
        addClass(state, each);
      }
      for (const { name } of preparedChains()) state.chains.add(name);
      const batch = this.#kernel.begin();
      const wanted = { facts, classes: knownClasses(state) };
      mendFixedParts(batch, { family, stored: found, wanted, differences });
      await this.#kernel.commit(batch);
    }
  }

  /** Removes what belongs to no row. */
  async #sweep(family: TableFamily, comparison: Comparison): Promise<void> {
    let batch = this.#kernel.begin();
    for (const leftover of comparison.leftovers()) {
      batch.deleteElement(TABLES[family], leftover.set, leftover);
      if (batch.operationCount < MOST_OPERATIONS) continue;
      await this.#kernel.commit(batch);
      batch = this.#kernel.begin();
    }
    await this.#kernel.commit(batch);
  }

  async #delete(family: TableFamily): Promise<void> {
    const batch = this.#kernel.begin();
    batch.deleteTable(TABLES[family]);
    await this.#kernel.commit(batch);
  }
}

function newStates(): Record<TableFamily, TableState> {
  return byName(TABLE_FAMILIES, emptyState);
}

function notInspected(): PlaneError {
  return new PlaneError('the tables have not been looked at yet', {
    code: 'NFT_NOT_INSPECTED',
    next: 'this is a fault of the program: inspect comes before every other call',
  });
}

function asPlaneError(error: unknown): unknown {
  if (!(error instanceof NftRefusal)) return error;
  return new PlaneError(`the kernel refused: ${error.message}`, {
    code: `NFT_${error.code}`,
    next: NEXT_OF_CODE[error.code] ?? 'it is tried again; fairlead status shows what is pending',
    cause: error,
    ...(error.owner === undefined ? {} : { culprit: error.owner }),
  });
}

const NEXT_OF_CODE: Readonly<Record<string, string>> = {
  EPERM: 'fairlead needs the capability NET_ADMIN in the network namespace it serves',
  ENOMEM: 'the kernel has no memory for it: free some, or raise the limit of the control group',
  EOPNOTSUPP: 'the kernel lacks a part of nf_tables: load nft_numgen, nft_fib, nft_nat, nft_masq',
};
