import { cleanMachine } from '../../commands/cleanup/clean-machine.ts';
import { kernelMachine } from '../../commands/cleanup/kernel-machine.ts';
import { CommandError } from '../../commands/command-error.ts';
import { assertNetAdmin } from '../../commands/run/machine.ts';
import { runningInstance } from '../../commands/run/one-instance.ts';
import { printWarning } from '../../commands/terminal/print.ts';
import { ConfigError } from '../../config/config-error.ts';
import { buildConfig } from '../../config/load-config.ts';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { DEFAULT_EBPF, type EbpfSettings } from '../../config/settings.ts';
import { deleteLink } from '../../linux/route/change-links.ts';
import { below, CONFIG_FILE, THIS_MACHINE } from './paths.ts';
import { dropFromRecord, type OutsideRecord } from './record.ts';
import { removeFiles, removeRunFolder } from './remove-files.ts';
import { type ServiceManager, serviceManagerOf } from './service-manager.ts';
import { textOf } from './write-files.ts';

export interface OffInput {
  readonly root: string;
  readonly record: OutsideRecord;
  /** Whether files that were changed are removed too. */
  readonly force: boolean;
  /** Gets the files that were kept because they were changed. */
  readonly kept: string[];
}

interface OffStep {
  readonly what: string;
  /** Returns what it did, for the summary. */
  work(): Promise<readonly string[]>;
}

/** In the order in which the machine stays usable: who uses a thing goes before the thing. */
export function offSteps(input: OffInput): readonly OffStep[] {
  const { root, record } = input;
  const files: OffStep = { what: 'files', work: () => filesGone(input) };
  if (root !== THIS_MACHINE) return [files];
  const manager = serviceManagerOf(root);
  return [
    ...record.units
      .toReversed()
      .map((unit) => ({ what: unit, work: () => unitGone(manager, unit) })),
    ...record.links.map((link) => ({ what: link, work: () => linkGone(root, link) })),
    { what: 'kernel', work: () => kernelCleaned(root) },
    files,
    { what: 'systemd', work: () => unitsForgotten(manager, input) },
  ];
}

async function unitGone(
  manager: ServiceManager | undefined,
  unit: string,
): Promise<readonly string[]> {
  if (manager === undefined) return [];
  await manager.stop(unit);
  await manager.disable(unit);
  return [`${unit} stopped`];
}

async function linkGone(root: string, link: string): Promise<readonly string[]> {
  await deleteLink(link);
  await dropFromRecord(root, { links: [link] });
  return [`link ${link} deleted`];
}

/** An agent that nothing stops would write its rules again. */
export function assertStopped(): void {
  const running = runningInstance({ runFolder: RUN_FOLDER });
  if (running === undefined) return;
  throw new CommandError(`fairlead runs on this machine (${running})`, {
    code: 'ALREADY_RUNNING',
    next: 'stop it first: it would write its rules again',
  });
}

async function kernelCleaned(root: string): Promise<readonly string[]> {
  assertNetAdmin();
  assertStopped();
  const { pinFolder, cgroupPath } = await ebpfPlaces(root);
  const machine = kernelMachine({
    runFolder: RUN_FOLDER,
    pinFolder,
    ...(cgroupPath === undefined ? {} : { cgroup: cgroupPath }),
  });
  await cleanMachine({}, machine, () => undefined);
  await removeRunFolder(RUN_FOLDER);
  return ['rules removed from the kernel'];
}

async function filesGone({ root, record, force, kept }: OffInput): Promise<readonly string[]> {
  const result = await removeFiles(root, record.files, force);
  kept.push(...result.kept);
  return result.removed.length === 0 ? [] : [`${result.removed.length} files removed`];
}

/** Units stay in the record until systemd has forgotten them. */
async function unitsForgotten(
  manager: ServiceManager | undefined,
  { root, record }: OffInput,
): Promise<readonly string[]> {
  if (record.units.length > 0) await manager?.reload();
  await dropFromRecord(root, { units: record.units });
  return [];
}

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'next' in error ? `${error.message}; ${String(error.next)}` : error.message;
}

/**
 * Where the agent has put its eBPF maps and programs, by its configuration. The usual places if there
 * is none, or one that no agent could have started with.
 */
export async function ebpfPlaces(root: string): Promise<EbpfSettings> {
  const path = below(root, CONFIG_FILE);
  const text = await textOf(path);
  if (text === undefined) return DEFAULT_EBPF;
  try {
    return buildConfig(new Map(), { path, text }).settings.ebpf;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    printWarning(
      `${path} is invalid: eBPF maps are removed from ${DEFAULT_EBPF.pinFolder}; for another place: fairlead cleanup --pin-folder`,
    );
    return DEFAULT_EBPF;
  }
}
