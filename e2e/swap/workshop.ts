import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { run } from '../../lab/host/run.ts';
import type { RealCluster } from '../../lab/real/cluster.ts';
import { administratorCommand } from './kubectl.ts';
import type { Step } from './procedure.ts';

export const CHECKOUT = join(import.meta.dirname, '../..');
const STEP_DEADLINE_MS = 240_000;

/** Where an operator sits: a checkout of which deploy/ can be edited, kubectl and Helm on the PATH. */
export interface Workshop {
  /** Fails if any command of the step does. */
  do(step: Step): Promise<void>;
}

export interface Equipment {
  /** Path of the program; without one there is none. */
  readonly helm: string | undefined;
  readonly signal: AbortSignal;
}

export async function openWorkshop(
  cluster: RealCluster,
  { helm, signal }: Equipment,
): Promise<Workshop> {
  const folder = join(cluster.folder, 'operator');
  const programs = join(folder, 'bin');
  await mkdir(programs, { recursive: true });
  await furnish(folder);
  const commands = {
    kubectl: administratorCommand(cluster, cluster.parts.kubectl),
    ...(helm === undefined ? {} : { helm: administratorCommand(cluster, helm) }),
  };
  for (const [name, command] of Object.entries(commands)) {
    const path = join(programs, name);
    await writeFile(path, `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`);
    await chmod(path, 0o755);
  }
  const helmHome = join(folder, 'helm');
  const path = [programs, process.env['PATH'] ?? ''].join(delimiter);
  return {
    async do(step) {
      await run(['bash', '-euo', 'pipefail', '-c', step.script], {
        cwd: folder,
        env: { PATH: path, HELM_CACHE_HOME: helmHome, HELM_CONFIG_HOME: helmHome },
        deadlineMs: STEP_DEADLINE_MS,
        signal,
      });
    },
  };
}

/** A checkout in which the operator can edit deploy/, and run `npm run fairlead`. */
export async function furnish(folder: string): Promise<void> {
  await cp(join(CHECKOUT, 'deploy'), join(folder, 'deploy'), { recursive: true });
  for (const name of ['package.json', 'src', 'tools', 'node_modules']) {
    await symlink(join(CHECKOUT, name), join(folder, name));
  }
}
