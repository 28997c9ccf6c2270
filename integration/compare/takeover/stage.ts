import { join } from 'node:path';
import { paths, type Service } from '../../../lab/api/objects.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { silentProgress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import type { Pod } from '../../../lab/kubelet/pods.ts';
import type { Lab } from '../../../lab/lab.ts';
import { nodeAddress, outsiderAddress } from '../../../lab/network/plan.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { startOnNode } from '../iptables/sides.ts';
import { Load } from './load.ts';
import type { LoadWay, OddConnection } from './load-questions.ts';
import { BUNDLE, type Owner } from './owners.ts';
import { readRules, wipeRules } from './rules.ts';

const SERVE_PORT = 8080;
const SERVICE_PORT = 80;
const NAME = 'web';

/** A lab with a node that changes its proxy. */
export class Stage {
  readonly lab: Lab;
  readonly node: string;
  readonly #folder: string;
  #ways: readonly LoadWay[] = [];
  #pods: readonly Pod[] = [];
  readonly #alone = new Map<string, readonly string[]>();

  constructor(lab: Lab) {
    this.lab = lab;
    this.node = lab.namespacePath('node1');
    this.#folder = join(lab.folder, 'proxies', 'node1');
  }

  async prepare(): Promise<void> {
    const names = ['asker', 'left', 'right'];
    this.#pods = await Promise.all(names.map((name) => this.#pod(name)));
    const [asker, ...servers] = this.#pods;
    const { api } = this.lab;
    const { spec } = await api.create<Service>(paths.services('default'), {
      metadata: { name: NAME },
      spec: {
        type: 'NodePort',
        ports: [{ protocol: 'TCP', port: SERVICE_PORT, targetPort: SERVE_PORT }],
      },
    });
    await api.create(paths.slices('default'), {
      metadata: { name: NAME, labels: { 'kubernetes.io/service-name': NAME } },
      addressType: 'IPv4',
      ports: [{ name: '', protocol: 'TCP', port: SERVE_PORT }],
      endpoints: servers.map(({ address }) => ({
        addresses: [address.ipv4],
        nodeName: 'node1',
        conditions: { ready: true },
      })),
    });
    this.#ways = [
      {
        name: 'pod to cluster IP',
        namespace: asker?.namespacePath ?? '',
        sourceAddress: asker?.address.ipv4 ?? '',
        address: spec.clusterIP ?? '',
        port: SERVICE_PORT,
      },
      {
        name: 'outside to node port',
        namespace: this.lab.namespacePath('client'),
        sourceAddress: outsiderAddress('client', 1).ipv4,
        address: nodeAddress(1).ipv4,
        port: spec.ports?.[0]?.nodePort ?? 0,
      },
    ];
  }

  /** Networks in which a packet of the load can be lost, by name. */
  get places(): ReadonlyMap<string, string> {
    const pods = this.#pods.map(({ spec, namespacePath }) => [spec.name, namespacePath] as const);
    return new Map([['node', this.node], ['client', this.lab.namespacePath('client')], ...pods]);
  }

  load(connectionsPerSecond: number): Load {
    const share = connectionsPerSecond / this.#ways.length;
    return new Load(this.#ways.map((way) => ({ way, connectionsPerSecond: share })));
  }

  /** Resolves when the proxy has written everything. */
  async start(owner: Owner): Promise<Daemon> {
    return await startOnNode(this.lab, 1, owner.variant);
  }

  /** What a proxy writes on an empty node. At the first call, no proxy may run on the node. */
  async alone(owner: Owner): Promise<readonly string[]> {
    const known = this.#alone.get(owner.title);
    if (known !== undefined) return known;
    const daemon = await this.start(owner);
    const lines = await readRules(this.node);
    await daemon.stop();
    await wipeRules(this.node);
    this.#alone.set(owner.title, lines);
    return lines;
  }

  /** Lets an owner that has ended take its rules with it, as its own documents say. */
  async remove({ program, mode, variant }: Owner): Promise<void> {
    const { credentials } = this.lab;
    const place = { nodeName: 'node1', credentials, folder: this.#folder, settings: {} };
    const { env } = await variant.prepare(place);
    const runFolder = `--run-folder=${this.#runFolder}`;
    const argv: [string, ...string[]] =
      program === 'kube-proxy'
        ? [await provideTool('kube-proxy', { progress: silentProgress }), '--cleanup']
        : [process.execPath, BUNDLE, 'cleanup', '--keep-flows', `--mode=${mode}`, runFolder];
    await run(enterNamespace(this.node, argv), { env, deadlineMs: 120_000 });
  }

  /** What connection tracking of the node has from the ports of these connections. */
  async tracked(odd: readonly OddConnection[]): Promise<string[]> {
    if (odd.length === 0) return [];
    const argv = ['conntrack', '-L', '-p', 'tcp'] as [string, ...string[]];
    const listing = await run(enterNamespace(this.node, argv), { deadlineMs: 120_000 });
    const sources = new Set(odd.map(({ way, sourcePort }) => `${way} ${sourcePort}`));
    return listing.split('\n').filter((line) => {
      const [, source = '', port = ''] = /\bsrc=(\S+) .*?\bsport=(\d+)/.exec(line) ?? [];
      const way = this.#ways.find(({ sourceAddress }) => sourceAddress === source);
      return sources.has(`${way?.name} ${port}`);
    });
  }

  /** Of Fairlead, while it runs. */
  async status(): Promise<AgentSnapshot> {
    const socketPath = join(this.#runFolder, STATUS_SOCKET);
    return (await readStatus({ socketPath })) as AgentSnapshot;
  }

  get #runFolder(): string {
    return join(this.#folder, 'run');
  }

  async #pod(name: string): Promise<Pod> {
    return await this.lab.pods.run({
      namespace: 'default',
      name,
      nodeIndex: 1,
      labels: {},
      ports: [{ port: SERVE_PORT, protocol: 'TCP' }],
      ready: true,
      hostNetwork: false,
      // A process of its own: what this one does must not delay an answer.
      server: 'agnhost',
    });
  }
}
