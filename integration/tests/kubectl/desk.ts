import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { paths } from '../../../lab/api/objects.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { silentProgress } from '../../../lab/host/progress.ts';
import { type RunResult, run, tryRun } from '../../../lab/host/run.ts';
import type { Lab } from '../../../lab/lab.ts';
import { nodeName } from '../../../lab/network/plan.ts';
import { nodeIndexes } from '../../../lab/network/topology.ts';
import { provideTool } from '../../../lab/parts/build.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DEADLINE_MS = 120_000;
const NAMESPACE = 'kube-system';

/** Where a person sits: kubectl and the plugin, as it ships, on the PATH. */
export interface Desk {
  fairlead(...args: string[]): Promise<RunResult>;
  /** `exec` in the pod of this node hangs from now on. */
  cutOff(node: string): Promise<void>;
}

/**
 * The lab has no kubelet, and its agents are no containers: the pods of the agents are objects of the
 * API server without a container, and `kubectl exec` runs `fairlead` in the network namespace of the
 * node, for the agent there. Every other call is kubectl's own, to the API server of the lab.
 */
export async function openDesk(lab: Lab): Promise<Desk> {
  const folder = join(lab.folder, 'desk');
  await mkdir(folder);
  for (const tool of ['plugin', 'bundle']) {
    await run([process.execPath, join(ROOT, `tools/${tool}.ts`)], { deadlineMs: DEADLINE_MS });
  }
  for (const index of nodeIndexes(lab)) await makeAgentPod(lab, nodeName(index));
  const kubectl = await provideTool('kubectl', { progress: silentProgress });
  const script = join(folder, 'kubectl');
  await writeFile(script, kubectlScript({ lab, folder, kubectl }));
  await chmod(script, 0o755);
  const path = [folder, join(ROOT, 'dist'), dirname(process.execPath), process.env['PATH'] ?? ''];
  const env = { PATH: path.join(delimiter), NO_COLOR: '1' };
  return {
    fairlead: (...args) => tryRun([kubectl, 'fairlead', ...args], { env, deadlineMs: DEADLINE_MS }),
    cutOff: (node) => writeFile(join(folder, `${node}.silent`), ''),
  };
}

async function makeAgentPod(lab: Lab, node: string): Promise<void> {
  const name = `fairlead-${node}`;
  await lab.api.create(paths.pods(NAMESPACE), {
    metadata: {
      name,
      labels: { 'k8s-app': 'kube-proxy', 'app.kubernetes.io/name': 'fairlead' },
    },
    spec: {
      nodeName: node,
      hostNetwork: true,
      containers: [{ name: 'fairlead', image: 'localhost/fairlead:0.1.0' }],
    },
  });
  await lab.api.patch(`${paths.pod(NAMESPACE, name)}/status`, { status: { phase: 'Running' } });
}

interface Script {
  readonly lab: Lab;
  readonly folder: string;
  /** The real one. */
  readonly kubectl: string;
}

/** The words of `kubectl exec … POD -c CONTAINER -- fairlead VERB …` that count. */
function kubectlScript({ lab, folder, kubectl }: Script): string {
  const real = enterNamespace(lab.namespacePath('fabric'), [
    kubectl,
    `--kubeconfig=${lab.credentials.adminKubeconfig}`,
  ]);
  // As it ships: three starts from the sources at once take longer than a node may.
  const main = join(ROOT, 'dist/fairlead.mjs');
  return `#!/bin/sh
[ "$1" = exec ] || exec ${real.join(' ')} "$@"
while [ "$1" != -- ]; do
  case "$1" in fairlead-*) node="\${1#fairlead-}" ;; esac
  shift
done
shift 2
verb="$1"
shift
[ ! -e "${folder}/$node.silent" ] || exec sleep 60
path=$(printf '${lab.namespacePath('NODE')}' | sed "s/NODE/$node/")
exec nsenter --net="$path" -- ${process.execPath} ${main} "$verb" \\
  --run-folder="${lab.folder}/proxies/$node/run" "$@"
`;
}
