import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SpecResult, shortName } from './result.ts';

/** Saves what is needed to analyse a failure after the cluster is removed. */
export async function keepFailures(of: {
  clusterFolder: string;
  specs: readonly SpecResult[];
  into: string;
}): Promise<void> {
  const failed = of.specs.filter((spec) => spec.state === 'failed');
  if (failed.length === 0) return;
  await mkdir(of.into, { recursive: true });
  for (const spec of failed) {
    const text = `${spec.name}\n\n${spec.message}\n\n${spec.output}\n`;
    await writeFile(join(of.into, `${fileName(spec.name)}.txt`), text);
  }
  await keepLogs(of.clusterFolder, of.into);
}

/** The logs of the control plane, of the nodes, and of the system's pods. */
export async function keepLogs(clusterFolder: string, into: string): Promise<void> {
  await cp(join(clusterFolder, 'logs'), join(into, 'cluster'), { recursive: true });
  const nodes = join(clusterFolder, 'nodes');
  if (!existsSync(nodes)) return;
  for (const node of await readdir(nodes)) {
    // Kubelets keep the logs of a pod under its namespace and name.
    const logs = join(nodes, node, 'pod-logs');
    const pods = (await readdir(logs)).filter((name) => name.startsWith('kube-system_'));
    for (const pod of pods) {
      const target = join(into, 'system-pods', node, pod);
      await cp(join(logs, pod), target, { recursive: true, dereference: true });
    }
  }
}

function fileName(spec: string): string {
  return shortName(spec)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 120);
}
