import { Command, Option } from 'commander';
import { MODE_NAMES } from '../config/modes.ts';
import { RUN_FOLDER } from '../config/run-folder.ts';
import { DEFAULT_EBPF } from '../config/settings.ts';
import { cleanMachine, type WhatToClean } from './cleanup/clean-machine.ts';
import { type KernelMachineOptions, kernelMachine } from './cleanup/kernel-machine.ts';
import { assertNetAdmin } from './run/machine.ts';
import { runningInstance } from './run/one-instance.ts';
import { printWarning } from './terminal/print.ts';

interface CleanupOptions extends WhatToClean, KernelMachineOptions {
  readonly dryRun?: true;
}

/** `fairlead cleanup`: removes everything that Fairlead wrote to the kernel. */
export function cleanupCommand(): Command {
  return new Command('cleanup')
    .description('remove everything that Fairlead has written to the kernel; needs no cluster')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option('--run-folder <path>', 'the folder with the saved kernel settings', RUN_FOLDER)
    .option('--pin-folder <path>', 'the folder with the pinned eBPF maps', DEFAULT_EBPF.pinFolder)
    .option(
      '--cgroup <path>',
      'the cgroup that the eBPF programs are attached to, if not the root cgroup',
    )
    .option(
      '--keep-flows',
      'keep conntrack entries and kernel settings, for a proxy that takes over',
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'remove only what this mode has written, for a proxy that takes over (kube-proxy uses the same ' +
          'iptables chains); implies --keep-flows',
      ).choices(MODE_NAMES),
    )
    .action(cleanUp);
}

export async function cleanUp(options: CleanupOptions): Promise<void> {
  assertNetAdmin();
  warnOfRunning(options);
  await cleanMachine(options, kernelMachine(options));
}

/**
 * A warning only: cleanup must also work when the agent hangs, kube-proxy's own `--cleanup` does
 * not check, and `--mode` may name another mode than the running one.
 */
function warnOfRunning({ dryRun, mode, runFolder }: CleanupOptions): void {
  const running = runningInstance({ runFolder });
  if (running === undefined) return;
  const verb = dryRun ? 'would rewrite' : 'rewrites';
  const what = mode === undefined ? `${verb} its rules` : `${verb} those of mode ${mode}`;
  const when = mode === undefined ? '' : ', if that is its mode';
  printWarning(
    `fairlead runs on this machine (${running}) and ${what} immediately${when}; stop it first`,
  );
}
