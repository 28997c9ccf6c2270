import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealCluster } from '../lab/real/cluster.ts';
import { type SpecResult, shortName } from './result.ts';

/** Keeps what is needed to understand a failure after the cluster is gone. */
export async function keepFailures(of: {
  cluster: RealCluster;
  specs: readonly SpecResult[];
  folder: string;
}): Promise<void> {
  const failed = of.specs.filter((spec) => spec.state === 'failed');
  if (failed.length === 0) return;
  await mkdir(of.folder, { recursive: true });
  for (const spec of failed) {
    const text = `${spec.name}\n\n${spec.message}\n\n${spec.output}\n`;
    await writeFile(join(of.folder, `${fileName(spec.name)}.txt`), text);
  }
  await cp(of.cluster.logFolder, join(of.folder, 'cluster'), { recursive: true });
  await keepSystemLogs(of.cluster, join(of.folder, 'system-pods'));
}

/** Kubelets keep the logs of a pod under its namespace and name. */
async function keepSystemLogs(cluster: RealCluster, folder: string): Promise<void> {
  const nodes = join(cluster.folder, 'nodes');
  for (const node of await readdir(nodes)) {
    const logs = join(nodes, node, 'pod-logs');
    const pods = (await readdir(logs)).filter((name) => name.startsWith('kube-system_'));
    for (const pod of pods) {
      await cp(join(logs, pod), join(folder, node, pod), { recursive: true, dereference: true });
    }
  }
}

function fileName(spec: string): string {
  return shortName(spec)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 120);
}
