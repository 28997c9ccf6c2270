import { join } from 'node:path';
import { Command, Option } from 'commander';
import type { Mode } from '../config/modes.ts';
import { removeTranslated } from '../flows/remove-translated.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { kernelSysctls } from '../linux/sysctl.ts';
import { restoreSysctls } from '../linux/sysctl-state.ts';
import { nodePortAddresses } from './cleanup/node-port-addresses.ts';
import { CommandError } from './command-error.ts';
import { DEFAULT_EBPF } from './run/ebpf.ts';
import { RUN_FOLDER, SYSCTL_STATE } from './run/folder.ts';
import { BUILT_MODES, openPart, PLANE_PARTS, partsOfMode } from './run/plane.ts';
import { removePlane } from './run/remove-plane.ts';

interface CleanupOptions {
  readonly runFolder: string;
  readonly pinFolder: string;
  readonly keepFlows?: true;
  /** Only what this mode has written; all when not given. */
  readonly mode?: Mode;
}

/** `fairlead cleanup`: leaves the machine as if it had never run. */
export function cleanupCommand(): Command {
  return new Command('cleanup')
    .description('remove everything that Fairlead has put into the kernel; needs no cluster')
    .option('--run-folder <path>', 'where it kept what it changed', RUN_FOLDER)
    .option('--pin-folder <path>', 'where its eBPF maps are', DEFAULT_EBPF.pinFolder)
    .option('--keep-flows', 'leave connections that are under way, for a proxy that takes over')
    .addOption(
      new Option(
        '--mode <mode>',
        'only what this mode has written: the chains of iptables are those of kube-proxy as well',
      ).choices(BUILT_MODES),
    )
    .action(cleanUp);
}

export async function cleanUp(options: CleanupOptions): Promise<void> {
  const frontends = [];
  const parts = options.mode === undefined ? PLANE_PARTS : partsOfMode(options.mode);
  for (const part of parts) {
    const removed = await removePlane(openPart(part, { ebpf: { pinFolder: options.pinFolder } }));
    frontends.push(...(removed ?? []));
    console.log(`${part}: ${removed ? 'removed' : 'its programs are not installed here'}`);
  }
  if (!options.keepFlows) {
    const count = await removeTranslated(new KernelConntrack(), {
      frontends,
      nodePortAddresses: await nodePortAddresses(),
      signal: AbortSignal.timeout(FLOWS_DEADLINE_MS),
    });
    console.log(`tracked connections: ${count} deleted`);
  }
  await restore(join(options.runFolder, SYSCTL_STATE));
}

const FLOWS_DEADLINE_MS = 60_000;

async function restore(path: string): Promise<void> {
  const { changes, leftAlone, problems } = await restoreSysctls(kernelSysctls(), path);
  for (const { name, before, after } of changes) console.log(`${name}: ${before} -> ${after}`);
  for (const name of leftAlone) console.log(`${name}: changed by somebody else, left alone`);
  for (const problem of problems) console.error(`warning: ${problem.message}`);
  if (problems.length > 0) {
    throw new CommandError(`${problems.length} settings could not be put back`, {
      code: 'CLEANUP_INCOMPLETE',
      next: 'see the warnings above, and run it again',
    });
  }
}
