import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type RunResult, run, tryRun } from '../../lab/host/run.ts';
import type { RealCluster } from '../../lab/real/cluster.ts';
import { administratorCommand } from '../swap/kubectl.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUILD_MS = 120_000;
const CALL_MS = 400_000;

/** Where a person sits: kubectl on the PATH, and the plugin as it ships. */
export interface Desk {
  /** `kubectl fairlead …`. */
  fairlead(...args: string[]): Promise<RunResult>;
  /** Gives what it prints; fails where kubectl does. */
  kubectl(...args: string[]): Promise<string>;
  /** A script of bash, with `kubectl-fairlead` and `kubectl` on the PATH. */
  bash(script: string): Promise<RunResult>;
}

export async function openDesk(cluster: RealCluster, prelude = ''): Promise<Desk> {
  const folder = join(cluster.folder, 'desk');
  await mkdir(folder, { recursive: true });
  await run([process.execPath, join(ROOT, 'tools/plugin.ts')], { deadlineMs: BUILD_MS });
  const kubectl = join(folder, 'kubectl');
  const script = `#!/bin/sh\n${prelude}\nexec ${administratorCommand(cluster, cluster.parts.kubectl).join(' ')} "$@"\n`;
  await writeFile(kubectl, script);
  await chmod(kubectl, 0o755);
  const path = [folder, join(ROOT, 'dist'), dirname(process.execPath), process.env['PATH'] ?? ''];
  const options = { env: { PATH: path.join(delimiter), NO_COLOR: '1' }, deadlineMs: CALL_MS };
  return {
    fairlead: (...args) => tryRun(['kubectl-fairlead', ...args], options),
    kubectl: (...args) => run([kubectl, ...args], options),
    bash: (text) => tryRun(['bash', '-c', text], options),
  };
}
