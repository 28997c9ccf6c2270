import { FAMILIES, type Family } from '../../../forwarding/model.ts';
import { type FoundBackend, findBackend } from '../../../linux/iptables/backend.ts';
import { RestoreProcess } from '../../../linux/iptables/restore-process.ts';
import { ProgramCommitter } from './committer.ts';
import { FamilyTables } from './family-tables.ts';

const LOCK_SECONDS = 5;
/** The largest tables take iptables a minute and more. */
const COMMIT_DEADLINE_MS = 300_000;
const IDLE_MS = 60_000;

export interface Kernel {
  readonly found: FoundBackend;
  readonly tables: Readonly<Record<Family, FamilyTables>>;
  /** Whether a change was made through a socket of a program that we started. */
  readonly isOurs: (portId: number) => boolean;
}

/** `path`: where the programs of iptables are; the PATH of the process when not given. */
export async function openKernel(path?: string): Promise<Kernel> {
  const found = await findBackend(path);
  const { program } = found;
  const processes = { IPv4: restoreOf(program, 'IPv4'), IPv6: restoreOf(program, 'IPv6') };
  const tablesOf = (family: Family): FamilyTables =>
    tablesBy({ program, family, process: processes[family] });
  return {
    found,
    tables: { IPv4: tablesOf('IPv4'), IPv6: tablesOf('IPv6') },
    isOurs: (portId) => FAMILIES.some((family) => processes[family].isOurs(portId)),
  };
}

export async function removeFrom(program: string, family: Family): Promise<void> {
  using process = restoreOf(program, family);
  await tablesBy({ program, family, process }).remove();
}

function tablesBy(parts: {
  readonly program: string;
  readonly family: Family;
  readonly process: RestoreProcess;
}): FamilyTables {
  const { program, family, process } = parts;
  return new FamilyTables({ family, program, committer: new ProgramCommitter(process) });
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
