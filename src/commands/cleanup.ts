import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { removeTranslated } from '../flows/remove-translated.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { kernelSysctls } from '../linux/sysctl.ts';
import { restoreSysctls } from '../linux/sysctl-state.ts';
import { cleanMachine, type WhatToClean } from './cleanup/clean-machine.ts';
import { nodePortAddresses } from './cleanup/node-port-addresses.ts';
import { DEFAULT_EBPF } from './run/ebpf.ts';
import { RUN_FOLDER, SYSCTL_STATE } from './run/folder.ts';
import { BUILT_MODES, openPart } from './run/plane.ts';
import { removePlane } from './run/remove-plane.ts';
import { assertOwnFolder } from './run/run-folder.ts';

const FLOWS_DEADLINE_MS = 60_000;

interface CleanupOptions extends WhatToClean {
  readonly runFolder: string;
  readonly pinFolder: string;
  readonly cgroup?: string;
}

/** `fairlead cleanup`: leaves the machine as if it had never run. */
export function cleanupCommand(): Command {
  return new Command('cleanup')
    .description('remove everything that Fairlead has put into the kernel; needs no cluster')
    .option('--run-folder <path>', 'where it kept what it changed', RUN_FOLDER)
    .option('--pin-folder <path>', 'where its eBPF maps are', DEFAULT_EBPF.pinFolder)
    .option('--cgroup <path>', 'the control group that its eBPF programs are at, if not the root')
    .option(
      '--keep-flows',
      'leave connections that are under way, and kernel settings, for a proxy that takes over',
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'only what this mode has written, for a proxy that takes over: the chains of iptables are ' +
          'those of kube-proxy as well; implies --keep-flows',
      ).choices(BUILT_MODES),
    )
    .action(cleanUp);
}

export async function cleanUp(options: CleanupOptions): Promise<void> {
  const { pinFolder, cgroup } = options;
  const ebpf = cgroup === undefined ? { pinFolder } : { pinFolder, cgroupPath: cgroup };
  await cleanMachine(options, {
    removePart: (part) => removePlane(openPart(part, { ebpf })),
    removeFlows: async (frontends) =>
      await removeTranslated(new KernelConntrack(), {
        frontends,
        nodePortAddresses: await nodePortAddresses(),
        signal: AbortSignal.timeout(FLOWS_DEADLINE_MS),
      }),
    restoreSettings: async () => {
      if (existsSync(options.runFolder)) await assertOwnFolder(options.runFolder);
      return await restoreSysctls(kernelSysctls(), join(options.runFolder, SYSCTL_STATE));
    },
  });
}
