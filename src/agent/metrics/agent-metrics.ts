import { FAMILIES } from '../../forwarding/model.ts';
import type { Clock } from '../../time/clock.ts';
import { type GaugeMetric, MetricSet } from '../metrics.ts';
import type { NoLocalCount } from '../no-local.ts';
import type { AgentObserver } from '../observer.ts';
import type { Probe } from '../servers/health-server.ts';
import type { RelayCounts } from '../servers/localhost-relay.ts';
import type { MetricsText } from '../servers/metrics-server.ts';
import type { AgentSnapshot } from '../snapshot.ts';
import { HookMetrics, type ReadAttachments } from './hook-metrics.ts';
import { type FailureNames, type FlowsReconciled, KubeProxyMetrics } from './kube-proxy-metrics.ts';
import { defineKubernetes, type KubernetesAbout } from './kubernetes-metrics.ts';
import { OwnMetrics } from './own-metrics.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { ServiceMetrics, type ServiceReading } from './service-metrics.ts';

/** Defines series in the set, and gives what reads their values for a scrape. */
export type DefineSeries = (set: MetricSet) => { take(): Promise<void> };

export interface AgentMetricsOptions {
  readonly mode: string;
  readonly version: string;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  /** On the monotonic clock. */
  readonly startedAtMs: number;
  /** Called once per scrape. */
  readonly snapshot: () => AgentSnapshot;
  /** Service ports without local endpoints; optional. */
  readonly noLocal?: () => readonly NoLocalCount[];
  /** Left out without it. */
  readonly pressure?: () => Pressure;
  /** Left out without it. */
  readonly relay?: () => RelayCounts;
  /** Read for each scrape; undefined: the kernel does not track connections. */
  readonly conntrack?: () => ConntrackFill | undefined;
  /** Left out where reading them costs too much for a scrape. */
  readonly attachments?: ReadAttachments;
  /** Those that only this mode has. */
  readonly series?: DefineSeries;
  /** Series of the busiest Services, if they are configured. */
  readonly services?: Omit<ServiceReading, 'clock'>;
  /** Left out without it. */
  readonly failureNames?: FailureNames;
  /** Left out without it. */
  readonly kubernetes?: KubernetesAbout;
  /** Requests to the API server, counted by the client. */
  readonly restClient?: Pick<MetricsText, 'render'>;
}

/** All metrics. Counters are updated by events, gauges on each scrape. */
export class AgentMetrics implements MetricsText {
  readonly contentType: string;
  /** To be registered with the agent. */
  readonly observers: readonly AgentObserver[];
  readonly #options: AgentMetricsOptions;
  readonly #set = new MetricSet();
  readonly #slis = new MetricSet();
  readonly #kubeProxy: KubeProxyMetrics;
  readonly #own: OwnMetrics;
  readonly #process: ProcessMetrics;
  readonly #pressure: PressureMetrics | undefined;
  readonly #relay: RelayMetrics | undefined;
  readonly #conntrack: ConntrackMetrics | undefined;
  readonly #hooks: HookMetrics | undefined;
  readonly #ofMode: ReturnType<DefineSeries> | undefined;
  readonly #services: ServiceMetrics | undefined;
  readonly #healthchecks: ReturnType<typeof defineHealthchecks>;
  readonly #build: GaugeMetric;

  constructor(options: AgentMetricsOptions) {
    this.#options = options;
    this.#kubeProxy = new KubeProxyMetrics({ ...options, set: this.#set });
    this.#own = new OwnMetrics(this.#set);
    this.#process = new ProcessMetrics(this.#set);
    const { pressure, relay, conntrack, attachments, services, kubernetes } = options;
    this.#pressure = pressure && new PressureMetrics(this.#set, pressure);
    this.#relay = relay && new RelayMetrics(this.#set, relay);
    this.#conntrack = conntrack && new ConntrackMetrics(this.#set, conntrack);
    this.#hooks = attachments && new HookMetrics(this.#set, attachments);
    this.#ofMode = options.series?.(this.#set);
    const { clock } = options;
    this.#services = services && new ServiceMetrics(this.#set, { ...services, clock });
    if (kubernetes) defineKubernetes(this.#set, kubernetes);
    const labels = ['version', 'mode'];
    this.#build = this.#set.gauge({
      name: 'fairlead_build_info',
      help: 'Always 1; see the labels',
      labels,
    });
    this.#healthchecks = defineHealthchecks(this.#slis);
    this.observers = [this.#kubeProxy, this.#own];
    this.contentType = this.#set.contentType;
  }

  /** Called for each response of the health server. */
  onProbe(probe: Probe, status: number): void {
    if (probe === 'readyz') this.#own.onReadyz(status);
    else this.#kubeProxy.onProbe(probe, status);
  }

  onFlowsReconciled(reconciled: FlowsReconciled): void {
    this.#kubeProxy.onFlowsReconciled(reconciled);
  }

  /** Leftovers of an inactive mode could not be deleted. */
  onCleanupFailed(): void {
    this.#kubeProxy.onCleanupFailed();
  }

  async render(): Promise<string> {
    const snapshot = this.#options.snapshot();
    this.#kubeProxy.take(snapshot);
    this.#own.take(snapshot);
    this.#process.take();
    this.#pressure?.take();
    this.#relay?.take();
    this.#conntrack?.take();
    await this.#hooks?.take();
    await this.#ofMode?.take();
    await this.#services?.take();
    this.#build.set(1, this.#options.version, this.#options.mode);
    const restClient = (await this.#options.restClient?.render()) ?? '';
    return this.#set.render() + restClient;
  }

  /** That the server responds is the only check, as in kube-proxy. */
  async renderSlis(): Promise<string> {
    this.#healthchecks.last.set(1, 'ping', 'healthz');
    this.#healthchecks.total.add(1, 'ping', 'healthz', 'success');
    return this.#slis.render();
  }
}

function defineHealthchecks(set: MetricSet) {
  const last = set.gauge({
    name: 'kubernetes_healthcheck',
    help: 'The result of a single healthcheck',
    labels: ['name', 'type'],
  });
  const total = set.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'The results of all healthchecks',
    labels: ['name', 'type', 'status'],
  });
  return { last, total };
}

interface ConntrackFill {
  readonly entries: number;
  /** 0: the kernel has no limit. */
  readonly limit: number;
}

/** How full the connection tracking table is: when it is, the kernel drops new connections. */
class ConntrackMetrics {
  readonly #set: MetricSet;
  readonly #read: () => ConntrackFill | undefined;
  #metrics: ReturnType<typeof defineConntrack> | undefined;

  /** `read` returns undefined while the kernel has no such table: then there are no series. */
  constructor(set: MetricSet, read: () => ConntrackFill | undefined) {
    this.#set = set;
    this.#read = read;
  }

  take(): void {
    const fill = this.#read();
    if (fill === undefined) return;
    this.#metrics ??= defineConntrack(this.#set);
    this.#metrics.entries.set(fill.entries);
    this.#metrics.limit.set(fill.limit);
  }
}

function defineConntrack(set: MetricSet) {
  return {
    entries: set.gauge({
      name: 'fairlead_conntrack_entries',
      help: 'Entries of the connection tracking table in this network namespace',
    }),
    limit: set.gauge({
      name: 'fairlead_conntrack_entries_limit',
      help: 'Entries that the connection tracking table may have; 0 if there is no limit',
    }),
  };
}

/** Load by clients, and what was dropped because of it. */
interface Pressure {
  /** Open connections to the servers. */
  readonly connectionCount: number;
  /** Connections closed early because of the limit. */
  readonly evictedConnectionCount: number;
  /** Log lines dropped because the output was blocked. */
  readonly droppedLogLineCount: number;
}

class PressureMetrics {
  readonly #metrics: ReturnType<typeof definePressure>;
  readonly #read: () => Pressure;

  constructor(set: MetricSet, read: () => Pressure) {
    this.#metrics = definePressure(set);
    this.#read = read;
  }

  take(): void {
    const { connectionCount, evictedConnectionCount, droppedLogLineCount } = this.#read();
    this.#metrics.connections.set(connectionCount);
    this.#metrics.evicted.replace(evictedConnectionCount);
    this.#metrics.droppedLines.replace(droppedLogLineCount);
  }
}

function definePressure(set: MetricSet) {
  return {
    connections: set.gauge({
      name: 'fairlead_server_connections',
      help: 'Open connections to the health, Service health and metrics servers',
    }),
    evicted: set.counter({
      name: 'fairlead_server_connections_evicted_total',
      help: 'Connections closed early because a server reached its connection limit',
    }),
    droppedLines: set.counter({
      name: 'fairlead_log_lines_dropped_total',
      help: 'Log lines dropped because the output was blocked',
    }),
  };
}

/** kube-proxy's metrics; it has them only where the feature gate is enabled. */
class RelayMetrics {
  readonly #metrics: ReturnType<typeof defineRelay>;
  readonly #read: () => RelayCounts;

  constructor(set: MetricSet, read: () => RelayCounts) {
    this.#metrics = defineRelay(set);
    this.#read = read;
  }

  take(): void {
    const { listeners, listenFailures } = this.#read();
    for (const family of FAMILIES) {
      this.#metrics.listeners.set(listeners[family], family);
      this.#metrics.failures.replace(listenFailures[family], family);
    }
  }
}

function defineRelay(set: MetricSet) {
  const prefix = 'kubeproxy_nftables_localhost_nodeport';
  const labels = ['ip_family'];
  return {
    listeners: set.gauge({
      name: `${prefix}_listeners`,
      help: 'Node ports with a listener on loopback',
      labels,
    }),
    failures: set.counter({
      name: `${prefix}_listener_creation_failures_total`,
      help: 'Failed attempts to listen on loopback for a node port',
      labels,
    }),
  };
}
