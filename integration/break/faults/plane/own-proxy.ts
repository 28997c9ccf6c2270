import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Events } from '../../../../src/agent/kubernetes-events.ts';
import type { AgentSnapshot } from '../../../../src/agent/snapshot.ts';
import { openSource } from '../../../../src/commands/open-source.ts';
import { type AssembledProxy, assembleProxy } from '../../../../src/commands/run/proxy.ts';
import type { LoadedConfig } from '../../../../src/config/load-config.ts';
import { traitsOf } from '../../../../src/config/modes.ts';
import type { RowChange } from '../../../../src/dataplanes/contract.ts';
import { KernelIpvs } from '../../../../src/linux/ipvs/kernel-ipvs.ts';
import { SILENT_LOGGER } from '../../../../src/log/testing/silent-logger.ts';
import type { Mode, OpenMode } from '../../../../src/modes/mode.ts';
import { modeNamed } from '../../../../src/modes/mode-registry.ts';
import { openNetfilter } from '../../../../src/modes/netfilter.ts';
import { systemClock } from '../../../../src/time/clock.ts';
import type { HooksSurroundings } from '../../../../src/wings/ebpf/hooks-part.ts';
import type { IpvsSurroundings } from '../../../../src/wings/ipvs/ipvs-part.ts';
import { MapFailures } from './failing-maps.ts';
import { NetlinkFailures } from './failing-netlink.ts';
import type { FailurePlan, Failures } from './failures.ts';
import { IpvsFailures } from './ipvs/failing-ipvs.ts';
import { type Acknowledgement, monotonicMs, type ProxyReport } from './questions.ts';

/** All of `fairlead run` in this process, so that one can see when the kernel acknowledged what. */
export class OwnProxy {
  readonly #config: LoadedConfig;
  readonly #netlink: NetlinkFailures;
  readonly #maps: MapFailures;
  readonly #ipvs: IpvsFailures;
  readonly #failures: Failures;
  readonly #acknowledgements: (Acknowledgement & { service: string })[] = [];
  readonly #lifetime = new AbortController();
  #proxy: AssembledProxy | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(config: LoadedConfig, { failing, share }: FailurePlan) {
    this.#config = config;
    this.#netlink = new NetlinkFailures(failing === 'netlink' ? share : 0);
    this.#maps = new MapFailures(failing === 'maps' ? share : 0);
    this.#ipvs = new IpvsFailures(failing === 'ipvs' ? share : 0);
    this.#failures = { netlink: this.#netlink, maps: this.#maps, ipvs: this.#ipvs }[failing];
  }

  async start(): Promise<void> {
    const config = this.#config;
    const mode = await modeNamed(config.settings.mode);
    const nodeName = config.settings.nodeName ?? hostname().toLowerCase();
    const { kubeconfigPath } = config.settings.api;
    const access = kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath };
    const runFolder = await mkdtemp(join(tmpdir(), 'fairlead-faults-'));
    this.#proxy = assembleProxy({
      config,
      mode,
      nodeName,
      source: await openSource(
        { ...access, watchesNamespaces: traitsOf(mode.name).needs.namespaces, watch: true },
        nodeName,
      ),
      opened: this.#open(mode),
      events: new Events({
        about: { nodeName, hostName: nodeName },
        post: async () => undefined,
        onProblem: () => undefined,
        clock: systemClock,
      }),
      // What fails is planted: the report counts it.
      log: SILENT_LOGGER,
      droppedLogLineCount: () => 0,
      runFolder,
    });
    const running = this.#proxy.run(this.#lifetime.signal);
    this.#running = running.finally(() => rm(runFolder, { recursive: true, force: true }));
  }

  async stop(): Promise<void> {
    this.#lifetime.abort();
    await this.#running;
  }

  report(service: string): ProxyReport {
    const snapshot = this.#proxy?.agent.snapshot();
    if (snapshot === undefined) throw new Error('the proxy has not been started');
    return {
      isSynced: snapshot.conditions.firstSync.isTrue && snapshot.conditions.synced.isTrue,
      waiting: waitingOf(snapshot),
      received: snapshot.propagation.received,
      failedCallCount: this.#failures.failedCount,
      callCount: this.#failures.callCount,
      acknowledgements: this.#acknowledgements.filter((each) => each.service === service),
    };
  }

  #open(mode: Mode): OpenMode {
    const { ebpf, ipvs } = this.#config.settings;
    // Each mode takes what it knows.
    const around: IpvsSurroundings & HooksSurroundings = {
      ebpf,
      ipvs,
      openIpvs: () => this.#ipvs.around(new KernelIpvs()),
      openNetlink: (kind) => this.#netlink.open(() => openNetfilter(kind)),
      openTables: (maps) => this.#maps.tables(maps),
    };
    const opened = mode.open(around);
    const { plane } = opened;
    const apply = plane.apply.bind(plane);
    plane.apply = async (changes) => {
      const begunMs = monotonicMs();
      await apply(changes);
      this.#note(changes, begunMs);
    };
    return opened;
  }

  #note(changes: readonly RowChange[], begunMs: number): void {
    const acknowledgedMs = monotonicMs();
    for (const { id, after } of changes) {
      const endpoints = (after?.clusterEndpoints ?? []).map(({ address }) => address);
      const service = `${id.namespace}/${id.service}`;
      this.#acknowledgements.push({ service, begunMs, acknowledgedMs, endpoints });
    }
  }
}

function waitingOf({ rows, failingRows, lastInspection, conditions }: AgentSnapshot): string {
  const [row] = failingRows;
  const rejected =
    row === undefined ? '' : `, ${row.key} ${row.attempts} times: ${row.error.message}`;
  const looked = lastInspection === undefined ? 'never' : `for ${lastInspection.reason}`;
  const { errorFree } = conditions;
  return `${rows.pending} rows waiting${rejected}; looked ${looked}; ${errorFree.why}`;
}
