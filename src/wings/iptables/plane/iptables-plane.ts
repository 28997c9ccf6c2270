import { isDeepStrictEqual } from 'node:util';
import type {
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
} from '../../../dataplanes/contract.ts';
import { Differences } from '../../../dataplanes/differences.ts';
import {
  EVERY_LOSS_COUNTS,
  objectText,
  watchRuleEvents,
} from '../../../dataplanes/shared/rule-events.ts';
import { FAMILIES, type Family, type Forwarding } from '../../../forwarding/model.ts';
import { type FoundBackend, hasLegacyTables } from '../../../linux/iptables/backend.ts';
import type { Netlink } from '../../../linux/netlink/netlink-socket.ts';
import { NftConnection } from '../../../linux/nftables/nft-connection.ts';
import type { NftEvent } from '../../../linux/nftables/nftables-events.ts';
import { isIncompatible } from '../../../linux/xtables/iptables-error.ts';
import type { Backend } from '../../../linux/xtables/iptables-programs.ts';
import { saveTable } from '../../../linux/xtables/save.ts';
import type { SavedTable } from '../../../linux/xtables/saved-table.ts';
import { findAbilities, readAbilities } from './abilities.ts';
import { readAttachments } from './attachments.ts';
import { endpointCounts, kernelFrontends, rejectedCounts } from './chain-counts.ts';
import { countOurs, hasOurs } from './clean-up.ts';
import type { FamilyTables } from './family-tables.ts';
import { concernsUs } from './iptables-drift.ts';
import { jumpsFor } from './iptables-fixed-parts.ts';
import { type Kernel, openKernel, removeFrom } from './iptables-kernel.ts';
import { asPlaneError, notInspected, withUnknown } from './iptables-rejection.ts';
import { Suspects } from './iptables-suspects.ts';
import { readKernel } from './kernel-view.ts';
import { pollTables } from './poll-tables.ts';
import {
  COUNTED_TABLES,
  type CountedTable,
  fixedRuleCount,
  type RuleCount,
} from './rule-counts.ts';
import type { Abilities } from './setting.ts';
import { hasOurChains, orNothing } from './unreadable.ts';

const POLL_MS = 5000;
/**
 * On the legacy backend every transaction replaces the whole table, whatever it changes. On the nft
 * backend the program needs the square of what it is given: 5,000 Services of 5 endpoints take
 * 200 s at once and 4 s in steps of 100.
 */
const ROWS_PER_STEP: Readonly<Record<Backend, number>> = { legacy: 50_000, nft: 100 };

export interface IptablesPlaneOptions {
  readonly openNetlink: (kind: 'requests' | 'events') => Netlink;
  /** Lets the kernel route packets from and to loopback addresses. */
  readonly serveLocalhost?: () => Promise<void>;
  /** Where the programs of iptables are; the PATH of the process when not given. */
  readonly path?: string;
  /** How often the legacy tables are polled; 5 s when not given. */
  readonly pollMs?: number;
  /** Rules of ours that lie where packets no longer need them, or meet them twice. */
  readonly onOtherBackend?: (backend: string) => void;
}

/** The data plane on iptables: chain by chain what kube-proxy writes, so that tools for it keep working. */
export class IptablesPlane implements DataPlane {
  readonly mode = 'iptables';
  readonly #options: IptablesPlaneOptions;
  #kernel: Promise<Kernel> | undefined;
  /** The abilities of the kernel, once it is open. */
  #tables: Kernel['tables'] | undefined;
  #facts: NodeFacts | undefined;
  #abilities: Abilities | undefined;
  #suspects = new Suspects();
  #isBusy = false;
  #rowsPerStep: number = ROWS_PER_STEP.nft;

  constructor(options: IptablesPlaneOptions) {
    this.#options = options;
  }

  get rowsPerStep(): number {
    return this.#rowsPerStep;
  }

  async inspect({ facts, rows }: Desired, depth: InspectionDepth): Promise<Inspection> {
    const suspects = this.#suspects;
    // Changes reported from now on are for the next inspection.
    this.#suspects = new Suspects();
    return await this.#writing(async ({ tables, found }) => {
      const isFirst = this.#abilities === undefined;
      const abilities = await findAbilities(this.#options.openNetlink);
      const isCertain =
        depth === 'reported' &&
        // The kernel reports no changes of the legacy tables.
        found.backend === 'nft' &&
        !suspects.isEverything &&
        facts === this.#facts &&
        isDeepStrictEqual(abilities, this.#abilities) &&
        FAMILIES.every((family) => tables[family].isCertain);
      await this.#serveLocalhost(facts);
      const differences = new Differences();
      const right = new Set<string>();
      const byFamily = byFamilyOf(rows);
      const before = writtenCount(tables);
      const inspectOne = async (family: Family): Promise<void> => {
        const setting = { facts, abilities };
        const own = byFamily[family];
        const keys = isCertain
          ? await tables[family].inspectSuspects(own, { setting, differences }, suspects.of(family))
          : await tables[family].inspect(own, setting, differences);
        for (const key of keys) right.add(key);
      };
      await settleAll(FAMILIES.map(inspectOne));
      this.#facts = facts;
      this.#abilities = abilities;
      this.#rowsPerStep = ROWS_PER_STEP[found.backend];
      if (isFirst) await this.#reportOther(found);
      const { described, count } = differences;
      const writeCount = writtenCount(tables) - before;
      return { right, differences: described, differenceCount: count, writeCount };
    }).catch((error: unknown) => {
      this.#suspects.noteEverything();
      throw error;
    });
  }

  async configure(facts: NodeFacts): Promise<void> {
    await this.#writing(async ({ tables }) => {
      const { facts: old, abilities } = this.#setting();
      await this.#serveLocalhost(facts);
      for (const family of FAMILIES) {
        await tables[family].configure({ facts: old, abilities }, { facts, abilities });
      }
      this.#facts = facts;
    });
  }

  async apply(changes: readonly RowChange[]): Promise<void> {
    await this.#writing(async ({ tables }) => {
      const setting = this.#setting();
      const parts = FAMILIES.map((family) => {
        const own = changes.filter(({ id }) => id.family === family);
        return { table: tables[family], changes: own };
      }).filter((part) => part.changes.length > 0);
      const results = await Promise.allSettled(
        parts.map((part) => part.table.apply(part.changes, setting)),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (!failed) return;
      results.forEach((result, index) => {
        const part = parts[index];
        if (result.status === 'fulfilled') part?.table.keep(part.changes, setting);
      });
      const unknown = changes.filter(({ key, id }) => tables[id.family].has(key));
      throw withUnknown(
        failed.reason,
        unknown.map(({ key }) => key),
      );
    });
  }

  async diff({ facts, rows }: Desired): Promise<readonly Difference[]> {
    const { tables } = await this.#open();
    const setting = { facts, abilities: await readAbilities(this.#options.openNetlink) };
    const differences = Differences.ofAll();
    const byFamily = byFamilyOf(rows);
    for (const family of FAMILIES) {
      const view = await tables[family].read();
      tables[family].compare({ view, rows: byFamily[family], setting, differences });
    }
    return differences.described;
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    const { found, isOurs, tables } = await this.#open();
    if (found.backend === 'nft') {
      const events = {
        netlink: this.#options.openNetlink('events'),
        isOurs,
        concerns: concernsUs,
        describe: (event: NftEvent) => [objectText(event)],
        reported: () => this.#suspects,
        // The program of the nft backend commits by sockets of its own, so commits cannot be counted.
        losses: EVERY_LOSS_COUNTS,
      };
      await watchRuleEvents(events, onDrift, signal);
      return;
    }
    const polled = {
      program: found.program,
      periodMs: this.#options.pollMs ?? POLL_MS,
      writtenCount: () => writtenCount(tables),
      jumps: () => (this.#facts ? jumpsFor(this.#facts) : []),
      isQuiet: () => !this.#isBusy && this.#facts !== undefined,
    };
    await pollTables(polled, onDrift, signal);
  }

  async read<K extends ReadingKey>(
    key: K,
    rows?: readonly Forwarding[],
  ): Promise<Readings[K] | undefined> {
    return await (this as Readers)[key]?.(rows);
  }

  async counters(): Promise<readonly EndpointCount[]> {
    const nat = await this.#readTable('nat', true);
    return FAMILIES.flatMap((family) => endpointCounts(nat[family], family));
  }

  async rejected(): Promise<readonly RejectedCount[]> {
    const filter = await this.#readTable('filter', true);
    return FAMILIES.flatMap((family) => rejectedCounts(filter[family], family));
  }

  /** Before the first inspection it is not known what should be there. */
  async attachments(): Promise<readonly Attachment[]> {
    if (!this.#facts) return [];
    return await readAttachments((await this.#open()).found.program, this.#facts);
  }

  /** Without reading the kernel. */
  ruleCounts(): readonly RuleCount[] {
    const [tables, facts, abilities] = [this.#tables, this.#facts, this.#abilities];
    if (!tables || !facts || !abilities) return [];
    return FAMILIES.flatMap((family) => {
      const { counts } = tables[family];
      const fixed = (table: CountedTable): number =>
        fixedRuleCount(table, { facts, abilities }, family);
      return COUNTED_TABLES.map((table) => ({
        table,
        family,
        total: fixed(table) + counts.total(table),
        lastWritten: counts.lastWritten(table),
      }));
    });
  }

  /** The kernel has nothing of us: found without a program. False says only that one has to look. */
  async isAbsent(): Promise<boolean> {
    if (hasLegacyTables()) return false;
    try {
      using connection = new NftConnection(this.#options.openNetlink('requests'));
      for (const family of FAMILIES) if (await hasOurChains(connection, family)) return false;
      return true;
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async frontends(): Promise<readonly KernelFrontend[]> {
    if (await this.isAbsent()) return [];
    const nat = await this.#readTable('nat', false);
    return FAMILIES.flatMap((family) => kernelFrontends(nat[family]));
  }

  async inventory(): Promise<readonly Holding[]> {
    try {
      const { found } = await this.#open();
      const { openNetlink } = this.#options;
      const programs = [found.program, ...(found.other ? [found.other.program] : [])];
      const calls = programs.flatMap((program) => FAMILIES.map((family) => ({ program, family })));
      const counts = await Promise.all(
        calls.map(({ program, family }) =>
          orNothing({ family, openNetlink, nothing: { chains: 0, rules: 0 } }, async () =>
            countOurs(await readKernel(program, family)),
          ),
        ),
      );
      const sum = (what: 'chains' | 'rules'): number =>
        counts.reduce((total, each) => total + each[what], 0);
      return [
        { what: 'chains' as const, count: sum('chains') },
        { what: 'rules' as const, count: sum('rules') },
      ].filter(({ count }) => count > 0);
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async retire(): Promise<'removed'> {
    if (!(await this.isAbsent())) await this.remove();
    return 'removed';
  }

  async remove(): Promise<void> {
    await this.#writing(async ({ tables, found }) => {
      const { other } = found;
      for (const family of FAMILIES) {
        const about = { family, openNetlink: this.#options.openNetlink, nothing: undefined };
        await orNothing(about, () => tables[family].remove());
        if (other) await orNothing(about, () => removeFrom(other.program, family));
      }
      this.#facts = undefined;
      this.#abilities = undefined;
    });
  }

  async #serveLocalhost(facts: NodeFacts): Promise<void> {
    if (isLocalhostServed(facts)) await this.#options.serveLocalhost?.();
  }

  #setting(): { facts: NodeFacts; abilities: Abilities } {
    const [facts, abilities] = [this.#facts, this.#abilities];
    if (!facts || !abilities) throw notInspected();
    return { facts, abilities };
  }

  async #readTable(table: 'nat' | 'filter', withCounters: boolean) {
    try {
      const { program } = (await this.#open()).found;
      const { openNetlink } = this.#options;
      const read = async (family: Family) =>
        await orNothing<SavedTable>({ family, openNetlink, nothing: new Map() }, () =>
          saveTable({ program, family, table, withCounters }),
        );
      const [IPv4, IPv6] = await Promise.all([read('IPv4'), read('IPv6')]);
      return { IPv4, IPv6 };
    } catch (error) {
      throw asPlaneError(error);
    }
  }

  async #writing<T>(work: (kernel: Kernel) => Promise<T>): Promise<T> {
    this.#isBusy = true;
    try {
      const kernel = await this.#open();
      this.#tables = kernel.tables;
      return await work(kernel);
    } catch (error) {
      throw asPlaneError(error);
    } finally {
      this.#isBusy = false;
    }
  }

  async #reportOther({ other }: FoundBackend): Promise<void> {
    if (!other || !this.#options.onOtherBackend) return;
    for (const family of FAMILIES) {
      if (!(await hasOursIn(other.program, family))) continue;
      this.#options.onOtherBackend(other.backend);
      return;
    }
  }

  #open(): Promise<Kernel> {
    this.#kernel ??= openKernel(this.#options.path).catch((error: unknown) => {
      this.#kernel = undefined;
      throw asPlaneError(error);
    });
    return this.#kernel;
  }
}

/** False for a table that iptables cannot read: it does not affect this mode. */
async function hasOursIn(program: string, family: Family): Promise<boolean> {
  try {
    return hasOurs(await readKernel(program, family));
  } catch (error) {
    if (isIncompatible(error)) return false;
    throw error;
  }
}

/** Waits for both, also when one fails: a write must not go on beside the next call. */
async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

function byFamilyOf(rows: readonly Forwarding[]): Record<Family, Forwarding[]> {
  const byFamily: Record<Family, Forwarding[]> = { IPv4: [], IPv6: [] };
  for (const row of rows) byFamily[row.id.family].push(row);
  return byFamily;
}

function isLocalhostServed({ nodePortsOnLocalhost, nodePortAddresses }: NodeFacts): boolean {
  const addresses = nodePortAddresses.IPv4;
  if (!nodePortsOnLocalhost) return false;
  return addresses === 'all' || addresses.some((address) => address.startsWith('127.'));
}

function writtenCount(tables: Readonly<Record<Family, FamilyTables>>): number {
  return FAMILIES.reduce((sum, family) => sum + tables[family].writtenCount, 0);
}
