import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { StatusPage } from '../../../src/agent/status-page.ts';
import { isWell } from '../../../src/commands/status/summary.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { compiledProgram } from '../../../src/linux/ebpf/testing/compiled-program.ts';
import {
  type NodeNetwork,
  nodeNetwork,
} from '../../../src/wings/ebpf/plane/testing/node-network.ts';
import type { Tick } from '../../../src/wings/top/traffic-figures.ts';
import { shopManifests } from './shop.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const DEADLINE_MS = 60_000;

/** A node with pods, a machine outside, a real agent and `fairlead top`, in namespaces of the test. */
export class TopSite {
  readonly network: NodeNetwork;
  readonly folder = mkdtempSync(join(tmpdir(), 'fairlead-top-'));
  readonly #daemons: Daemon[] = [];
  readonly #inCgroup: number[] = [];
  #count = 0;

  private constructor(network: NodeNetwork) {
    this.network = network;
  }

  static async enter(): Promise<TopSite> {
    const network = await nodeNetwork('top');
    for (const name of ['sock', 'tc'] as const) compiledProgram(name);
    return new TopSite(network);
  }

  get runFolder(): string {
    return join(this.folder, 'run');
  }

  /** Resolves when every Service is in the kernel. */
  async startAgent(mode: string, manifestsOf = shopManifests): Promise<void> {
    const { network, folder, runFolder } = this;
    const manifests = join(folder, 'objects.json');
    const config = join(folder, 'config.yaml');
    writeFileSync(manifests, manifestsOf(network.endpoints.map(({ ipv4 }) => ipv4)));
    writeFileSync(config, configuration(mode, network));
    const args = ['-f', manifests, '--config', config, '--run-folder', runFolder];
    const agent = this.start('agent', ['run', ...args]);
    await until(() => isReady(runFolder), {
      what: () => `the agent: ${readFileSync(agent.logFile, 'utf8')}`,
      deadlineMs: DEADLINE_MS,
    });
  }

  /** A stream of ticks, until the site is left. */
  startTop(...args: readonly string[]): TopStream {
    const options = ['-o', 'json', '--interval', '1s', '--run-folder', this.runFolder, ...args];
    return new TopStream(this.start('top', ['top', ...options]));
  }

  /** The agent reads them again. `notReady`: endpoints of `shop/busy`, by number, that are not ready. */
  changeManifests(notReady: readonly number[]): void {
    const addresses = this.network.endpoints.map(({ ipv4 }) => ipv4);
    writeFileSync(join(this.folder, 'objects.json'), shopManifests(addresses, notReady));
  }

  /** The sockets of a host become those of a pod, which a hook at the control group sees. */
  putIntoCgroup(pid: number): void {
    appendFileSync(join(this.network.cgroup, 'cgroup.procs'), String(pid));
    this.#inCgroup.push(pid);
  }

  async leave(): Promise<void> {
    for (const daemon of this.#daemons.toReversed()) await daemon.stop();
    const config = join(this.folder, 'config.yaml');
    const cleanup = this.start('cleanup', [
      'cleanup',
      '--config',
      config,
      '--run-folder',
      this.runFolder,
    ]);
    await until(() => cleanup.ended() !== undefined, { what: 'cleanup', deadlineMs: DEADLINE_MS });
    // A group with processes cannot be removed.
    const parent = join(this.network.cgroup, '../cgroup.procs');
    for (const pid of this.#inCgroup) appendFileSync(parent, String(pid));
    this.network.leave();
    rmSync(this.folder, { recursive: true });
  }

  /** Starts a command of Fairlead, which ends with the site. */
  start(name: string, args: readonly string[]): Daemon {
    this.#count += 1;
    const daemon = startDaemon({
      name,
      namespacePath: `/proc/${process.pid}/ns/net`,
      argv: [process.execPath, MAIN, ...args],
      logFile: join(this.folder, `${name}-${this.#count}.log`),
    });
    this.#daemons.push(daemon);
    return daemon;
  }
}

/** What a running `fairlead top -o json` has printed. */
export class TopStream {
  readonly daemon: Daemon;

  constructor(daemon: Daemon) {
    this.daemon = daemon;
  }

  /** Whole lines only: the last one may still be written. */
  ticks(): readonly Tick[] {
    const text = readFileSync(this.daemon.logFile, 'utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Tick);
  }

  /** Resolves when everything was read after now: an expensive source rests in between. */
  async freshTick(): Promise<void> {
    const sinceMs = performance.now();
    let [shownAfterMs, known] = [sinceMs, this.ticks().length];
    await until(
      () => {
        const ticks = this.ticks();
        const sources = ticks.at(-1)?.sources;
        const ages = [
          sources?.countersAgeSeconds ?? Infinity,
          sources?.refusedAgeSeconds ?? Infinity,
          // Absent in a mode that cannot know.
          sources?.liveAgeSeconds ?? 0,
        ];
        const ageMs = Math.max(...ages) * 1000;
        const isNew = ticks.length > known;
        const isFresh = isNew && shownAfterMs - ageMs > sinceMs;
        [shownAfterMs, known] = [performance.now(), ticks.length];
        return isFresh;
      },
      { what: 'a fresh tick', deadlineMs: DEADLINE_MS },
    );
  }

  /** Resolves when that many ticks have begun and ended from now on. */
  async nextTicks(count: number): Promise<void> {
    const before = this.ticks().length;
    await until(() => this.ticks().length >= before + count, {
      what: () => `ticks: ${readFileSync(this.daemon.logFile, 'utf8').slice(-2000)}`,
      deadlineMs: DEADLINE_MS,
    });
  }
}

function configuration(mode: string, { cgroup, pins }: NodeNetwork): string {
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: 'node1',
    oomScoreAdj: 0,
    clusterCIDR: '10.244.0.0/16,fd44::/16',
    detectLocalMode: 'ClusterCIDR',
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    fairlead: { mode, cgroup, pinFolder: join(pins, 'fairlead') },
  });
}

async function isReady(runFolder: string): Promise<boolean> {
  try {
    const page = (await readStatus({ socketPath: join(runFolder, STATUS_SOCKET) })) as StatusPage;
    return isWell(page) && page.conditions.synced.isTrue;
  } catch {
    // It has not opened its socket yet; the caller has a deadline.
    return false;
  }
}
