import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { run } from '../../lab/host/run.ts';
import type { RealCluster } from '../../lab/real/cluster.ts';
import { kubectlCommand } from './kubectl.ts';
import type { Step } from './procedure.ts';

export const CHECKOUT = join(import.meta.dirname, '../..');
const STEP_DEADLINE_MS = 240_000;

/** Where an operator sits: a checkout of which deploy/ can be edited, and kubectl on the PATH. */
export interface Workshop {
  /** Fails if any command of the step does. */
  do(step: Step): Promise<void>;
}

export async function openWorkshop(cluster: RealCluster, signal: AbortSignal): Promise<Workshop> {
  const folder = join(cluster.folder, 'operator');
  const programs = join(folder, 'bin');
  await mkdir(programs, { recursive: true });
  await cp(join(CHECKOUT, 'deploy'), join(folder, 'deploy'), { recursive: true });
  for (const name of ['package.json', 'src', 'node_modules']) {
    await symlink(join(CHECKOUT, name), join(folder, name));
  }
  const kubectl = join(programs, 'kubectl');
  await writeFile(kubectl, `#!/bin/sh\nexec ${kubectlCommand(cluster).join(' ')} "$@"\n`);
  await chmod(kubectl, 0o755);
  const path = [programs, process.env['PATH'] ?? ''].join(delimiter);
  return {
    async do(step) {
      await run(['bash', '-euo', 'pipefail', '-c', step.script], {
        cwd: folder,
        env: { PATH: path },
        deadlineMs: STEP_DEADLINE_MS,
        signal,
      });
    },
  };
}
