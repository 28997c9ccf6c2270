import { FAMILIES, type Family } from '../../../forwarding/model.ts';
import { type FoundBackend, findBackend } from '../../../linux/iptables/backend.ts';
import { probeRules } from '../../../linux/iptables/nft-probe.ts';
import { NftTablesWriter } from '../../../linux/iptables/nft-writer.ts';
import { RestoreProcess } from '../../../linux/iptables/restore-process.ts';
import { isAtLeast, programVersion } from '../../../linux/iptables/version.ts';
import type { Netlink } from '../../../linux/netlink/socket.ts';
import { NftConnection } from '../../../linux/nftables/connection.ts';
import { type Committer, NetlinkCommitter, ProgramCommitter } from './committers.ts';
import { FamilyTables } from './family-tables.ts';
import { probeRulesOf } from './probe-rules.ts';

const LOCK_SECONDS = 5;
/** The largest tables take iptables a minute and more. */
const COMMIT_DEADLINE_MS = 300_000;
const IDLE_MS = 60_000;
/** The version whose objects are written: an older one cannot read all of them. */
const LEAST_VERSION = [1, 8, 9];
const TABLE_FAMILY = { IPv4: 'ip', IPv6: 'ip6' } as const;

/** How changes reach the tables. */
export type Writer = 'legacy program' | 'nft program' | 'netlink';

export interface Kernel {
  readonly found: FoundBackend;
  readonly writer: Writer;
  readonly tables: Readonly<Record<Family, FamilyTables>>;
  /** Whether a change was made through a socket of ours, or of a program that we started. */
  readonly isOurs: (portId: number) => boolean;
}

export interface KernelOptions {
  readonly openNetlink: (kind: 'requests') => Netlink;
  readonly path?: string;
  /** The tables of the nft backend must be written by the program, and so more slowly. */
  readonly onNoNetlink?: (why: string) => void;
}

export async function openKernel(options: KernelOptions): Promise<Kernel> {
  const found = await findBackend(options.path);
  const { program, backend } = found;
  const processes = { IPv4: restoreOf(program, 'IPv4'), IPv6: restoreOf(program, 'IPv6') };
  const byProgram = (family: Family) => new ProgramCommitter(processes[family]);
  const connections = backend === 'nft' ? await openConnections(program, options) : undefined;
  const committer = (family: Family): Committer => {
    if (!connections) return byProgram(family);
    const writer = new NftTablesWriter(connections[family], TABLE_FAMILY[family]);
    return new NetlinkCommitter(writer, byProgram(family));
  };
  const tablesOf = (family: Family): FamilyTables =>
    new FamilyTables({ family, program, committer: committer(family) });
  return {
    found,
    writer: connections ? 'netlink' : `${backend} program`,
    tables: { IPv4: tablesOf('IPv4'), IPv6: tablesOf('IPv6') },
    isOurs: (portId) =>
      FAMILIES.some(
        (family) => connections?.[family].portId === portId || processes[family].isOurs(portId),
      ),
  };
}

export async function removeFrom(program: string, family: Family): Promise<void> {
  using process = restoreOf(program, family);
  const committer = new ProgramCommitter(process);
  await new FamilyTables({ family, program, committer }).remove();
}

type Connections = Readonly<Record<Family, NftConnection>>;

/** Undefined: this kernel or this program cannot be written for. */
async function openConnections(
  program: string,
  { openNetlink, onNoNetlink }: KernelOptions,
): Promise<Connections | undefined> {
  const version = await programVersion(program);
  if (!version || !isAtLeast(version, LEAST_VERSION)) {
    onNoNetlink?.(
      `iptables ${version?.join('.') ?? 'of unknown version'} cannot read every rule that is written over netlink`,
    );
    return undefined;
  }
  const connections = {
    IPv4: new NftConnection(openNetlink('requests')),
    IPv6: new NftConnection(openNetlink('requests')),
  };
  for (const family of FAMILIES) {
    const rules = probeRulesOf(family);
    const why = await probeRules(connections[family], TABLE_FAMILY[family], rules);
    if (why === undefined) continue;
    for (const each of FAMILIES) connections[each][Symbol.dispose]();
    onNoNetlink?.(why);
    return undefined;
  }
  return connections;
}

function restoreOf(program: string, family: Family): RestoreProcess {
  return new RestoreProcess({
    program,
    family,
    lockSeconds: LOCK_SECONDS,
    commitDeadlineMs: COMMIT_DEADLINE_MS,
    idleMs: IDLE_MS,
  });
}
