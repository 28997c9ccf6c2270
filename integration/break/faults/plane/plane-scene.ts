import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { paths, type Service } from '../../../../lab/api/objects.ts';
import { pinFolder } from '../../../../lab/host/pins.ts';
import { assertRunning, type Daemon } from '../../../../lab/host/processes.ts';
import { run } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';
import type { Pod } from '../../../../lab/kubelet/pods.ts';
import { nodeName } from '../../../../lab/network/plan.ts';
import type { ProxyVariant } from '../../../../lab/proxies/contract.ts';
import { fairlead } from '../../../../lab/proxies/fairlead.ts';
import { ServerError } from '../../../../src/agent/servers/server-error.ts';
import { readStatus } from '../../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../../src/agent/snapshot.ts';
import { STATUS_SOCKET } from '../../../../src/config/run-folder.ts';
import type { Scene } from '../scene.ts';
import { BUNDLES, type Build, buildForwarders, buildPrograms } from './builds.ts';
import { ClientPorts, Hammer, type Target } from './connections.ts';
import { HeldConnections } from './held-connections.ts';
import { type Machine, makeStrangerFlows, readMachine } from './machine.ts';
import { NodeInside } from './node-inside.ts';
import { PinnedHooks } from './pinned-hooks.ts';
import { planeProxy } from './plane-proxies.ts';

const BUNDLER = fileURLToPath(new URL('../../../../tools/bundle.ts', import.meta.url));
const SERVE_PORT = 8080;
const HEALTH_PORT = 10256;
const SYNC_DEADLINE_MS = 120_000;
const LOOK_EVERY_MS = 10;

interface ServiceSpec {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  /** Target port; by default that of the pods' server. */
  readonly targetPort?: number;
}

export interface BuildPair {
  readonly usual: Build;
  readonly other: Build;
}

export interface PlaneSceneOptions {
  readonly builds?: BuildPair | undefined;
  /** Which node of the lab; the first when not given. */
  readonly nodeIndex?: number;
}

/** A lab with a node that serves, and what a fault of its data plane needs. */
export class PlaneScene implements AsyncDisposable {
  readonly cluster: Scene;
  readonly namespacePath: string;
  readonly runFolder: string;
  /** The proxy of the node, unless a fault has replaced it. */
  readonly proxyName: string;
  /** What it runs, and what may replace that. */
  readonly builds: BuildPair;
  readonly #nodeIndex: number;
  readonly #configPath: string;
  readonly #ports = new ClientPorts();
  #daemon: Daemon | undefined;
  #inside: NodeInside | undefined;
  #pods: Pod[] = [];
  /** Another mode or build runs than the one that the faults happen to. */
  #isChanged = false;
  #untouched: Machine | undefined;

  constructor(
    cluster: Scene,
    proxyName: string,
    { builds = { usual: 'usual', other: 'other' }, nodeIndex = 1 }: PlaneSceneOptions = {},
  ) {
    const { lab } = cluster;
    const node = nodeName(nodeIndex);
    this.cluster = cluster;
    this.proxyName = proxyName;
    this.builds = builds;
    this.#nodeIndex = nodeIndex;
    this.namespacePath = lab.namespacePath(node);
    const folder = join(lab.folder, 'proxies', node);
    this.runFolder = join(folder, 'run');
    this.#configPath = join(folder, 'fairlead.json');
  }

  async prepare(): Promise<void> {
    await run([process.execPath, BUNDLER]);
    if (planeProxy(this.proxyName).hasPrograms) await buildPrograms();
    const isPlanted = this.builds.usual !== 'usual';
    if (planeProxy(this.proxyName).hasForwarder && !isPlanted) await buildForwarders(this.builds);
    this.#pods = await Promise.all(['asker', 'left', 'right'].map((name) => this.#pod(name)));
    await makeStrangerFlows(this.namespacePath);
    this.#untouched = await readMachine(this.namespacePath);
    this.#daemon = await this.#start(bundled(this.proxyName, this.builds.usual));
    const { namespacePath, runFolder } = this;
    this.#inside = new NodeInside({ namespacePath, configPath: this.#configPath, runFolder });
  }

  get inside(): NodeInside {
    return present(this.#inside);
  }

  /** The node before it ever ran a proxy. */
  get untouched(): Machine {
    return present(this.#untouched);
  }

  /** `fairlead run` on the node. */
  get proxy(): Daemon {
    return present(this.#daemon);
  }

  /** Pods that answer with their names; the first one asks. */
  pod(name: 'asker' | 'left' | 'right'): Pod {
    const own = this.#own(name);
    return present(this.#pods.find(({ spec }) => spec.name === own));
  }

  /** Starts `fairlead run` again unless it runs as at the beginning; resolves when it has synced. */
  async serving(): Promise<void> {
    if (this.#isChanged) return await this.become(this.proxyName);
    if (this.proxy.ended() !== undefined) this.proxy.startAgain();
    await this.synced();
  }

  async synced(): Promise<AgentSnapshot> {
    const { pid } = this.proxy;
    const isSynced = async (): Promise<AgentSnapshot | undefined> => {
      await assertRunning(this.proxy);
      const status = await this.status();
      return status?.conditions.synced.isTrue && status.conditions.firstSync.isTrue
        ? status
        : undefined;
    };
    const what = `process ${pid} to sync`;
    return await until(isSynced, { what, deadlineMs: SYNC_DEADLINE_MS, everyMs: LOOK_EVERY_MS });
  }

  /** Undefined: no answer. */
  async status(): Promise<AgentSnapshot | undefined> {
    const socketPath = join(this.runFolder, STATUS_SOCKET);
    try {
      return (await readStatus({ socketPath })) as AgentSnapshot;
    } catch (error) {
      if (error instanceof ServerError) return undefined;
      throw error;
    }
  }

  /** Runs a command of the program on the node. */
  async fairlead(...args: string[]): Promise<string> {
    return await this.onNode(process.execPath, BUNDLES.usual, ...args);
  }

  async onNode(...argv: [string, ...string[]]): Promise<string> {
    return await run(['nsenter', `--net=${this.namespacePath}`, '--', ...argv]);
  }

  /** A Service whose endpoints are what a fault says they are. */
  async service(name: string, of: ServiceSpec): Promise<string> {
    const { api } = this.cluster;
    const known = await api.find<Service>(paths.service('default', name));
    if (known?.spec.clusterIP !== undefined) return known.spec.clusterIP;
    const { protocol, port } = of;
    const targetPort = of.targetPort ?? (protocol === 'TCP' ? SERVE_PORT : port);
    const { spec } = await api.create<Service>(paths.services('default'), {
      metadata: { name },
      spec: { ports: [{ protocol, port, targetPort }] },
    });
    await api.create(paths.slices('default'), {
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: '', protocol, port: targetPort }],
      endpoints: [],
    });
    return spec.clusterIP ?? '';
  }

  async setEndpoints(name: string, addresses: readonly string[]): Promise<void> {
    const endpoints = addresses.map((address) => ({
      addresses: [address],
      nodeName: nodeName(this.#nodeIndex),
      conditions: { ready: true },
    }));
    await this.cluster.api.patch(paths.slice('default', name), { endpoints });
  }

  /** A client in a pod, for a Service with both pods that is programmed already. */
  async hammer(): Promise<Hammer> {
    const web = this.#own('web');
    const address = await this.service(web, { protocol: 'TCP', port: 80 });
    await this.setEndpoints(web, [this.pod('left').address.ipv4, this.pod('right').address.ipv4]);
    await this.inside.becomesRight('diff', SYNC_DEADLINE_MS);
    return this.hammerAt(address);
  }

  /** Endpoints of the Service that a hammer connects to: one pod, the other, or both. */
  async turnEndpoints(count: number): Promise<void> {
    const [left, right] = [this.pod('left').address.ipv4, this.pod('right').address.ipv4];
    const lists = [[left], [right], [left, right], [right, left]];
    await this.setEndpoints(this.#own('web'), lists[count % lists.length] ?? []);
  }

  hammerAt(address: string): Hammer {
    return new Hammer(this.targetAt(address, 80), this.#ports);
  }

  /** Connections from the same pod that stay open. */
  holdAt(address: string): HeldConnections {
    return new HeldConnections(this.targetAt(address, 80), this.#ports);
  }

  /** A Service as the pod sees it that asks, from a port that no hammer will use soon. */
  targetAt(address: string, port: number): Target {
    const { namespacePath: namespace } = this.pod('asker');
    const group = this.cluster.lab.socketGroup(this.#nodeIndex);
    return { namespace, group, address, port, sourcePort: this.#ports.take() };
  }

  /** Ends the process and starts another mode or build in its place; resolves when it has synced. */
  async become(proxyName: string, build: Build = this.builds.usual): Promise<void> {
    // A fault that fails half way leaves whatever runs then.
    this.#isChanged = proxyName !== this.proxyName || build !== this.builds.usual;
    await this.proxy.stop();
    this.#daemon = await this.#start(bundled(proxyName, build));
    await this.synced();
  }

  /** Ends the process and starts it again in another environment; resolves when it has synced. */
  async becomeWith(env: Readonly<Record<string, string>>): Promise<void> {
    this.#isChanged = true;
    await this.proxy.stop();
    const variant = bundled(this.proxyName, this.builds.usual, env);
    this.#daemon = await this.#start(variant);
    await this.synced();
  }

  /** Ends the process and starts it again by this command; resolves when it has synced. */
  async becomeUnder(wrapper: readonly [string, ...string[]]): Promise<void> {
    this.#isChanged = true;
    await this.proxy.stop();
    const usual = bundled(this.proxyName, this.builds.usual);
    const variant: ProxyVariant = {
      ...usual,
      async prepare(place) {
        const command = await usual.prepare(place);
        return { ...command, argv: [...wrapper, ...command.argv] };
      },
    };
    this.#daemon = await this.#start(variant);
    await this.synced();
  }

  /** The status of an answer of `/livez`. */
  async livez(): Promise<number> {
    const url = `http://127.0.0.1:${HEALTH_PORT}/livez`;
    const format = '%{http_code}';
    return Number(await this.onNode('curl', '-s', '-m', '5', '-o', '/dev/null', '-w', format, url));
  }

  /** What a proxy with programs in the kernel keeps there. */
  get hooks(): PinnedHooks {
    return new PinnedHooks(pinFolder(this.cluster.lab.folder, nodeName(this.#nodeIndex)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inside?.[Symbol.dispose]();
    await this.#daemon?.kill();
  }

  async #start(variant: ProxyVariant): Promise<Daemon> {
    return await this.cluster.lab.startProxyOn(this.#nodeIndex, variant);
  }

  /** A name in the cluster that no other scene has. */
  #own(name: string): string {
    return this.#nodeIndex === 1 ? name : `${name}-${this.#nodeIndex}`;
  }

  async #pod(name: string): Promise<Pod> {
    return await this.cluster.lab.pods.run({
      namespace: 'default',
      name: this.#own(name),
      nodeIndex: this.#nodeIndex,
      labels: {},
      ports: [{ port: SERVE_PORT, protocol: 'TCP' }],
      ready: true,
      hostNetwork: false,
      server: 'own',
    });
  }
}

/** As it is shipped: from its sources it takes longer to start. */
function bundled(
  proxyName: string,
  build: Build = 'usual',
  env: Readonly<Record<string, string>> = {},
): ProxyVariant {
  const { description, mode, iptables } = planeProxy(proxyName);
  const backend = iptables === undefined ? {} : { iptables };
  const program = [BUNDLES[build]];
  return fairlead({ name: proxyName, description, mode, ...backend, program, env });
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the scene is used before prepare()');
  return value;
}
