import { enterNamespace } from '../../lab/host/namespaces.ts';
import { terminalProgress } from '../../lab/host/progress.ts';
import { run, tryRun } from '../../lab/host/run.ts';
import type { Lab } from '../../lab/lab.ts';
import { provideTool } from '../../lab/parts/build.ts';
import { ciliumSources } from '../../lab/parts/cilium.ts';
import { NODE } from '../control/proxy-process.ts';

const APPLY_DEADLINE_MS = 120_000;

/** The resources that the agent waits for, which its operator would make. */
export async function makeResources(lab: Lab): Promise<void> {
  const kubectl = await provideTool('kubectl', { progress: terminalProgress() });
  const { crdFolders } = await ciliumSources();
  const files = crdFolders.flatMap((folder) => ['-f', folder]);
  const argv = [kubectl, `--kubeconfig=${lab.credentials.adminKubeconfig}`, 'apply'] as const;
  await run(enterNamespace(lab.namespacePath(NODE), [...argv, '--server-side', ...files]), {
    deadlineMs: APPLY_DEADLINE_MS,
  });
}

/** Deletes the devices and rules of the agent: programs and maps are gone with its mount namespace. */
export async function wipeCilium(namespacePath: string): Promise<void> {
  // One of a pair: the other goes with it. There is none if the agent did not come that far.
  await tryRun(enterNamespace(namespacePath, ['ip', 'link', 'delete', 'cilium_host']));
  await resetRules(namespacePath, '-4');
  await resetRules(namespacePath, '-6');
}

/** The agent moves the rule for local addresses: afterwards there are the kernel's own, and no other. */
async function resetRules(namespacePath: string, family: '-4' | '-6'): Promise<void> {
  const rule = async (...words: string[]): Promise<string> =>
    await run(enterNamespace(namespacePath, ['ip', family, 'rule', ...words]));
  await rule('flush');
  const hasLocal = (await rule('list')).startsWith('0:');
  if (!hasLocal) await rule('add', 'priority', '0', 'lookup', 'local');
  await rule('add', 'priority', '32766', 'lookup', 'main');
}
