import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { type Progress, silentProgress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import { type RealCluster, startRealCluster } from '../../../lab/real/cluster.ts';
import { findRealProxy } from '../../../lab/real/proxies/registry.ts';

type Argv = readonly [string, ...string[]];

/** A user without rights on this machine, with the Role of docs/shell.md in a cluster of one real node. */
export interface Laptop extends AsyncDisposable {
  readonly cluster: RealCluster;
  /** The user may enter it, and write to the files made in it for that. */
  readonly folder: string;
  /** As the administrator of the cluster. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** The command with the network of the machine, as the user. */
  plain(command: readonly string[]): Argv;
  /** The command in `fairlead shell`, as the user. */
  shell(command: readonly string[]): Argv;
}

export interface LaptopOptions {
  /** Manifests with the Deployments. */
  readonly objects: string;
  readonly deployments: readonly string[];
  /** What Node is started with; the sources by default. */
  readonly program?: readonly string[];
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** Any: a shell meets none of its rules. */
const PROXY = 'upstream-nftables';
const ACCOUNT = join(import.meta.dirname, 'account.yaml');
const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] as const;
const DEADLINE_MS = 180_000;

export async function startLaptop(options: LaptopOptions): Promise<Laptop> {
  const { progress = silentProgress, signal, program = [MAIN] } = options;
  const cluster = await startRealCluster({
    nodeCount: 1,
    proxy: findRealProxy(PROXY),
    progress,
    signal,
  });
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-shell-test-'));
  await chmod(folder, 0o755);
  const dispose = async (): Promise<void> => {
    await cluster[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  };
  const laptop: Laptop = {
    cluster,
    folder,
    kubectl: async (...args) => {
      const admin = `--kubeconfig=${cluster.credentials.adminKubeconfig}`;
      const argv = enterNamespace(cluster.fabricPath, [cluster.parts.kubectl, admin, ...args]);
      return await run(argv, { deadlineMs: DEADLINE_MS });
    },
    plain: (command) => enterNamespace(cluster.fabricPath, [...NOBODY, ...command]),
    shell: (command) => {
      const rights = ['--kubeconfig', join(folder, 'kubeconfig'), '--namespaces', 'default'];
      const shell = [process.execPath, ...program, 'shell', ...rights, '--', ...command];
      return enterNamespace(cluster.fabricPath, [...NOBODY, ...shell]);
    },
    [Symbol.asyncDispose]: dispose,
  };
  try {
    await laptop.kubectl('apply', '-f', ACCOUNT, '-f', options.objects);
    for (const name of options.deployments) {
      await laptop.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
    }
    await writeKubeconfig(laptop);
  } catch (error) {
    await dispose();
    throw error;
  }
  return laptop;
}

/** Of the account that has the Role, and no other right. */
async function writeKubeconfig({ cluster, folder, kubectl }: Laptop): Promise<void> {
  const admin = JSON.parse(await readFile(cluster.credentials.adminKubeconfig, 'utf8'));
  const [{ cluster: of }] = admin.clusters;
  const authority = await readFile(of['certificate-authority'], 'base64');
  const token = (await kubectl('create', 'token', 'laptop')).trim();
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: of.server, 'certificate-authority-data': authority } },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config), { mode: 0o644 });
}
