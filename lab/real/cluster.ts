import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Credentials, writeCredentials } from '../control-plane/credentials.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { labFolder } from '../host/folders.ts';
import { ipBatch, namespaceName, namespacePath } from '../host/namespaces.ts';
import { type Daemon, startDaemon } from '../host/processes.ts';
import { type Progress, silentProgress } from '../host/progress.ts';
import { assertStartable, removeLab } from '../lab.ts';
import { nodeAddress, nodeName, podCidr } from '../network/plan.ts';
import { buildTopology, nodeIndexes } from '../network/topology.ts';
import { DEFAULT_NETWORK, findNetwork } from '../network/variants/registry.ts';
import { type PartsAndTools, providePartsAndTools } from '../parts/build.ts';
import { provideRealParts, type RealParts } from '../parts/real.ts';
import { provideImage } from './images/archive.ts';
import { commonImages } from './images/catalogue.ts';
import { installDns, installProxy, type Target } from './install.ts';
import { registerRealNode, untilNodesReady } from './nodes/register.ts';
import { startNode } from './nodes/start.ts';
import type { RealProxy } from './proxies/contract.ts';

export interface RealClusterOptions {
  /** Letters and digits; a random one when not given. */
  readonly name?: string | undefined;
  readonly nodeCount: number;
  readonly proxy: RealProxy;
  /** Archives of images that nodes shall know beside the usual; given a folder for files. */
  readonly moreArchives?: (folder: string) => Promise<readonly string[]>;
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
  /** Called with the cluster's folder when it does not come up, before all of it is removed. */
  readonly onFailure?: (folder: string) => Promise<void>;
}

/** A cluster whose nodes are real: kubelet, containerd, and every proxy a pod like any other. */
export interface RealCluster extends Target, AsyncDisposable {
  readonly logFolder: string;
  /** Lets go of the cluster without ending it. */
  detach(): void;
}

export async function startRealCluster(options: RealClusterOptions): Promise<RealCluster> {
  const { signal, nodeCount } = options;
  const progress = options.progress ?? silentProgress;
  const name = options.name ?? `r${randomBytes(3).toString('hex')}`;
  await assertStartable(name, nodeCount);
  const parts = await providePartsAndTools({ progress, signal });
  const realParts = await provideRealParts({ progress, signal });
  try {
    return await assemble({ ...options, name, parts, realParts, progress });
  } catch (error) {
    try {
      await options.onFailure?.(labFolder(name));
    } finally {
      await removeLab(name);
    }
    throw error;
  }
}

interface Assembly extends RealClusterOptions {
  readonly name: string;
  readonly parts: PartsAndTools;
  readonly realParts: RealParts;
  readonly progress: Progress;
}

async function assemble(assembly: Assembly): Promise<RealCluster> {
  const { name, nodeCount, parts, progress } = assembly;
  const folder = labFolder(name);
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder, { recursive: true });
  await progress.step(`network: ${nodeCount} nodes`, () => buildNetwork(assembly));
  const images = await progress.step('images', () => provideArchives(assembly, folder));
  const credentials = await writeCredentials(folder, nodeIndexes(assembly).map(nodeUser));
  const { api } = await progress.step('etcd, API server, controllers, scheduler', async () => {
    const etcdFolder = join(folder, 'etcd');
    const start = { lab: name, parts, credentials, logFolder, etcdFolder, signal: assembly.signal };
    const controlPlane = await startControlPlane({ ...start, kubelets: 'real' });
    startScheduler(assembly, { credentials, logFolder });
    return controlPlane;
  });
  const cluster: RealCluster = {
    name,
    nodeCount,
    folder,
    logFolder,
    parts,
    credentials,
    api,
    fabricPath: namespacePath({ lab: name, role: 'fabric' }),
    detach: () => api[Symbol.dispose](),
    async [Symbol.asyncDispose]() {
      api[Symbol.dispose]();
      await removeLab(name);
    },
  };
  await progress.step('nodes: containerd, images, kubelet', () =>
    startNodes(assembly, { cluster, images }),
  );
  await progress.step(`${assembly.proxy.name} on each node`, () =>
    installProxy(cluster, assembly.proxy, assembly.signal),
  );
  await progress.step('DNS', () => installDns(cluster, assembly.signal));
  return cluster;
}

/** The network of every lab, and a way for the API server to reach pods. */
async function buildNetwork({ name, nodeCount }: Assembly): Promise<void> {
  const network = findNetwork(DEFAULT_NETWORK);
  const iptables = 'xtables-nft-multi';
  await buildTopology({ lab: name, nodeCount, podNetwork: 'routed', network, iptables });
  const routes = nodeIndexes({ nodeCount }).flatMap((index) => [
    `route add ${podCidr(index).ipv4} via ${nodeAddress(index).ipv4}`,
    `route add ${podCidr(index).ipv6} via ${nodeAddress(index).ipv6}`,
  ]);
  await ipBatch(routes, namespaceName({ lab: name, role: 'fabric' }));
}

async function provideArchives(assembly: Assembly, folder: string): Promise<string[]> {
  const archives: string[] = [];
  for (const image of await commonImages(assembly.parts, assembly.realParts)) {
    archives.push(await provideImage(image));
  }
  const ofProxy = await assembly.proxy.provideArchive({ ...assembly, folder });
  if (ofProxy !== undefined) archives.push(ofProxy);
  return [...archives, ...((await assembly.moreArchives?.(folder)) ?? [])];
}

function nodeUser(index: number): { key: string; name: string; group: string } {
  const key = nodeName(index);
  return { key, name: `system:node:${key}`, group: 'system:nodes' };
}

function startScheduler(
  assembly: Assembly,
  at: { credentials: Credentials; logFolder: string },
): Daemon {
  const kubeconfig = at.credentials.adminKubeconfig;
  return startDaemon({
    name: 'kube-scheduler',
    namespacePath: namespacePath({ lab: assembly.name, role: 'fabric' }),
    logFile: join(at.logFolder, 'kube-scheduler.log'),
    argv: [
      assembly.realParts['kube-scheduler'],
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
    ],
  });
}

async function startNodes(
  assembly: Assembly,
  to: { cluster: RealCluster; images: readonly string[] },
): Promise<void> {
  const { cluster, images } = to;
  const starts = nodeIndexes(assembly).map(async (nodeIndex) => {
    await registerRealNode(cluster.api, nodeIndex);
    await startNode({
      lab: assembly.name,
      nodeIndex,
      labFolder: cluster.folder,
      logFolder: cluster.logFolder,
      kubelet: assembly.realParts.kubelet,
      kubeconfig: cluster.credentials.kubeconfigOf(nodeName(nodeIndex)),
      images,
      signal: assembly.signal,
    });
  });
  await Promise.all(starts);
  await untilNodesReady(cluster.api, assembly.nodeCount, assembly.signal);
}
