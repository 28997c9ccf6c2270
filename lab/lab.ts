import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiClient } from './api/client.ts';
import { type Credentials, writeCredentials } from './control-plane/credentials.ts';
import {
  type ApiServerChoice,
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from './control-plane/start.ts';
import { removeCgroups } from './host/cgroups.ts';
import { LabError } from './host/errors.ts';
import { assertLabsFolderOwn, labFolder } from './host/folders.ts';
import type { IptablesProgram } from './host/iptables-program.ts';
import { listNamespaces, namespacePath, removeNamespaces } from './host/namespaces.ts';
import { mountPins, pinFolder, unmountPins } from './host/pins.ts';
import type { Daemon } from './host/processes.ts';
import { type Progress, silentProgress } from './host/progress.ts';
import { SocketGroups } from './host/socket-groups.ts';
import { registerNode } from './kubelet/nodes.ts';
import { PodRunner } from './kubelet/pods.ts';
import { SliceWatch } from './kubelet/slice-watch.ts';
import type { LoadSize } from './load/objects.ts';
import { preloadEtcd } from './load/preload.ts';
import { MACHINE, MAX_NODES, nodeName } from './network/plan.ts';
import { buildTopology, nodeIndexes, type PodNetwork } from './network/topology.ts';
import type { NetworkVariant } from './network/variants/contract.ts';
import { DEFAULT_NETWORK, findNetwork } from './network/variants/registry.ts';
import { type ApiVersion, NEWEST_API_VERSION } from './parts/api-version.ts';
import { type Parts, provideParts } from './parts/build.ts';
import { provideControlPlane } from './parts/control-plane.ts';
import { provideCoredns } from './parts/real.ts';
import type { SocketPlace } from './proxies/contract.ts';
import { type ProxyStarters, proxyStarters } from './proxies/starters.ts';

export interface LabOptions {
  /** Letters and digits; a random one when not given. */
  readonly name?: string | undefined;
  readonly nodeCount?: number;
  readonly podNetwork?: PodNetwork;
  /** One of lab/network/variants; plain when not given. */
  readonly network?: string | undefined;
  /** The backend of iptables on the nodes, for a network with rules; nft when not given. */
  readonly iptables?: IptablesProgram | undefined;
  /** Services and endpoints that exist besides what the lab makes; for measurements at scale. */
  readonly load?: LoadSize | undefined;
  /** What the API server and the controllers are, or behave as; the newest when not given. */
  readonly apiVersion?: ApiVersion | undefined;
  /** Flags of the API server beside the lab's own. */
  readonly apiServerFlags?: readonly string[];
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
}

const NAME_PATTERN = /^[a-z0-9]{1,12}$/;

/** A host that a proxy may run on: a node by its index, or the machine outside. */
export type ProxyHost = number | typeof MACHINE;

/** A cluster of real parts in network namespaces of this machine. */
export interface Lab extends ProxyStarters, AsyncDisposable {
  readonly name: string;
  readonly nodeCount: number;
  readonly folder: string;
  readonly parts: Parts;
  readonly credentials: Credentials;
  readonly api: ApiClient;
  readonly pods: PodRunner;
  readonly slices: SliceWatch;
  readonly daemons: readonly Daemon[];
  /** Ends the API server and starts another on the same store: an upgrade, or a downgrade. */
  replaceApiServer(choice: ApiServerChoice): Promise<void>;
  /** Path of the namespace of `fabric`, `client`, `machine` or a node. */
  namespacePath(role: string): string;
  /** The control group of a host, once a proxy that serves sockets was started. */
  socketGroup(host: ProxyHost): string | undefined;
  /** Makes those groups, and a file system for what proxies pin; what is there already stays. */
  makeSocketPlaces(): Promise<void>;
  /** What a proxy on the host needs to know of both, once they exist. */
  socketPlace(host: ProxyHost): SocketPlace | undefined;
  /** Lets go of the lab without ending it: what a person started stays up. */
  detach(): Promise<void>;
}

export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const progress = options.progress ?? silentProgress;
  const name = options.name ?? `t${randomBytes(3).toString('hex')}`;
  const nodeCount = options.nodeCount ?? 2;
  await assertStartable(name, nodeCount);
  const newest = await provideParts({ progress, signal: options.signal });
  const apiVersion = options.apiVersion ?? NEWEST_API_VERSION;
  const controlPlaneOf = (version: ApiVersion) =>
    provideControlPlane(version, newest, { progress, signal: options.signal });
  const parts = { ...newest, ...(await controlPlaneOf(apiVersion)) };
  const chosen = { name, nodeCount, parts, apiVersion, controlPlaneOf };
  try {
    return await assemble({ ...options, ...chosen, progress });
  } catch (error) {
    await removeLab(name);
    throw error;
  }
}

/** Ends every process of a lab and removes its namespaces, links and files. */
export async function removeLab(name: string): Promise<void> {
  await assertLabsFolderOwn();
  await removeNamespaces(await listNamespaces(name));
  await removeCgroups(name);
  await unmountPins(labFolder(name));
  // A process that was just killed may still be writing for an instant.
  await rm(labFolder(name), { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

interface Assembly extends LabOptions {
  readonly name: string;
  readonly nodeCount: number;
  readonly parts: Parts;
  readonly apiVersion: ApiVersion;
  readonly controlPlaneOf: (version: ApiVersion) => ReturnType<typeof provideControlPlane>;
  readonly progress: Progress;
}

async function assemble(assembly: Assembly): Promise<Lab> {
  const { name, nodeCount, parts, progress } = assembly;
  const podNetwork = assembly.podNetwork ?? 'routed';
  const network = findNetwork(assembly.network ?? DEFAULT_NETWORK);
  const folder = labFolder(name);
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder, { recursive: true });
  const lifetime = new AbortController();

  await buildNetwork(assembly, podNetwork, network);
  const etcdFolder = join(folder, 'etcd');
  if (assembly.load) {
    await preloadEtcd({
      size: assembly.load,
      fabricPath: namespacePath({ lab: name, role: 'fabric' }),
      etcd: parts.etcd,
      logFolder,
      etcdFolder,
      progress,
    });
  }
  const credentials = await writeCredentials(folder);
  const controlPlane = await progress.step('etcd, API server, controllers', () =>
    startControl(assembly, { credentials, logFolder, etcdFolder }),
  );
  const { api, daemons } = controlPlane;
  await Promise.all(nodeIndexes({ nodeCount }).map((index) => registerNode(api, index)));
  const slices = new SliceWatch(api, lifetime.signal);
  const { agnhost } = parts;
  const coredns = {
    kubeconfig: credentials.adminKubeconfig,
    program: () => provideCoredns({ progress, signal: assembly.signal }),
  };
  const kubelet = { lab: name, api, podNetwork, network, logFolder, agnhost, coredns };
  const pods = new PodRunner(kubelet);
  const groups = new SocketGroups(name);
  const makeSocketPlaces = async (): Promise<void> => {
    await groups.make([...nodeIndexes({ nodeCount }).map(nodeName), MACHINE]);
    await mountPins(folder);
  };
  const socketPlace = (host: ProxyHost): SocketPlace | undefined => {
    const name = hostName(host);
    const cgroupPath = groups.ofHost(name);
    return cgroupPath ? { cgroupPath, pinFolder: pinFolder(folder, name) } : undefined;
  };
  const letGo = async (): Promise<void> => {
    await groups.leave();
    lifetime.abort();
    await slices.ended();
    api[Symbol.dispose]();
    await pods[Symbol.asyncDispose]();
  };

  return {
    name,
    nodeCount,
    folder,
    parts,
    credentials,
    api,
    slices,
    daemons,
    pods,
    replaceApiServer: controlPlane.replaceApiServer,
    namespacePath: (role) => namespacePath({ lab: name, role }),
    socketGroup: (host) => groups.ofHost(hostName(host)),
    makeSocketPlaces,
    socketPlace,
    ...proxyStarters({
      name,
      nodeCount,
      context: { progress, signal: assembly.signal },
      credentials,
      folders: { labFolder: folder, logFolder },
      api,
      makeSocketPlaces,
      socketPlace,
    }),
    detach: letGo,
    async [Symbol.asyncDispose]() {
      await letGo();
      await removeLab(name);
    },
  };
}

function hostName(host: ProxyHost): string {
  return host === MACHINE ? MACHINE : nodeName(host);
}

type ControlPlace = Pick<ControlPlaneOptions, 'credentials' | 'logFolder' | 'etcdFolder'>;

async function startControl(assembly: Assembly, place: ControlPlace): Promise<Control> {
  const { name, parts, apiVersion, controlPlaneOf, signal } = assembly;
  const apiServer = { version: apiVersion, flags: assembly.apiServerFlags ?? [] };
  const started = await startControlPlane({ ...place, lab: name, parts, apiServer, signal });
  return {
    ...started,
    replaceApiServer: async (choice) => {
      const programs = await controlPlaneOf(choice.version);
      await started.replaceApiServer(programs['kube-apiserver'], choice);
    },
  };
}

interface Control extends Pick<ControlPlane, 'api' | 'daemons'> {
  replaceApiServer(choice: ApiServerChoice): Promise<void>;
}

async function buildNetwork(
  { name, nodeCount, iptables = 'xtables-nft-multi', progress }: Assembly,
  podNetwork: PodNetwork,
  network: NetworkVariant,
): Promise<void> {
  await progress.step(
    `network: ${nodeCount} node${nodeCount === 1 ? '' : 's'}, ${podNetwork} pods, ${network.name}`,
    () => buildTopology({ lab: name, nodeCount, podNetwork, network, iptables }),
  );
}

function assertRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new LabError('LAB_NOT_ROOT', 'the lab creates network namespaces, which needs root', {
    next: 'run it as root, for example with sudo',
  });
}

export async function assertStartable(name: string, nodeCount: number): Promise<void> {
  assertRoot();
  await assertLabsFolderOwn();
  if (!NAME_PATTERN.test(name)) {
    throw new LabError('LAB_USAGE', `'${name}' is not a valid name for a lab`, {
      next: 'use up to 12 lower-case letters and digits',
    });
  }
  if (!Number.isInteger(nodeCount) || nodeCount < 1 || nodeCount > MAX_NODES) {
    throw new LabError('LAB_USAGE', `a lab has 1 to ${MAX_NODES} nodes, not ${nodeCount}`, {
      next: 'give another number of nodes',
    });
  }
  if ((await listNamespaces(name)).length > 0) {
    throw new LabError('LAB_EXISTS', `a lab named '${name}' exists already`, {
      next: `remove it first: npm run lab -- down --name ${name}`,
    });
  }
}
