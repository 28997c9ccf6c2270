import { hostname } from 'node:os';
import { join } from 'node:path';
import { Agent } from '../../agent/agent.ts';
import { readyz } from '../../agent/conditions.ts';
import { History } from '../../agent/history/history.ts';
import { pastEntries, readSavedHistory } from '../../agent/history/saved-history.ts';
import type { HostSockets } from '../../agent/host-sockets.ts';
import type { Events } from '../../agent/kubernetes-events.ts';
import { AgentMetrics } from '../../agent/metrics/agent-metrics.ts';
import type { RestClientMetrics } from '../../agent/metrics/rest-client-metrics.ts';
import type { AgentObserver } from '../../agent/observer.ts';
import { ConnectionBudget, limitsFor } from '../../agent/servers/connection-budget.ts';
import { LocalhostRelay } from '../../agent/servers/localhost-relay.ts';
import { RelaySlots } from '../../agent/servers/relay-connection.ts';
import { ServiceHealthServers } from '../../agent/servers/service-health.ts';
import { addressEvents, pacedEvents } from '../../agent/service-events.ts';
import { troubleEvents } from '../../agent/trouble-events.ts';
import type { Source } from '../../cluster/source.ts';
import { featureStates } from '../../config/feature-gates.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { traitsOf } from '../../config/modes.ts';
import { HISTORY_FILE } from '../../config/run-folder.ts';
import { conntrackFill } from '../../linux/conntrack/table-use.ts';
import { socketOwners } from '../../linux/host-sockets/socket-owner.ts';
import { watchHostSockets } from '../../linux/host-sockets/watch-host-sockets.ts';
import { ServiceManager } from '../../linux/notify-service-manager.ts';
import { openFileLimit } from '../../linux/process-limits.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import type { Logger } from '../../log/logger.ts';
import type { Mode, OpenMode } from '../../modes/mode.ts';
import type { PodNetwork } from '../../modes/wing.ts';
import { systemClock } from '../../time/clock.ts';
import { runTogether } from '../../time/run-together.ts';
import { flowsOf, followFlows } from './follow-flows.ts';
import { serviceRoutes } from './keep-service-routes.ts';
import { knownAddresses } from './known-addresses.ts';
import { KUBE_PROXY_VERSION, VERSION } from './program-version.ts';
import { type ConfigInForce, serverTasks } from './servers.ts';

export interface ProxyParts {
  readonly config: LoadedConfig;
  readonly mode: Mode;
  readonly nodeName: string;
  readonly source: Source;
  /** Paths of the manifests, if the objects do not come from a cluster. */
  readonly manifests?: readonly string[];
  readonly opened: OpenMode;
  readonly events: Events;
  readonly log: Logger;
  readonly droppedLogLineCount: () => number;
  /** Undefined: objects come from manifests. */
  readonly restClient?: RestClientMetrics;
  /** Undefined: pods are reached by packets. */
  readonly podNetwork?: Pick<PodNetwork, 'run' | 'counts'>;
  /** Everything is in the kernel for the first time. */
  readonly onFirstSync?: () => void;
  /** For the status socket, and for state that must outlive the process. */
  readonly runFolder: string;
}

/** Everything that `fairlead run` consists of, assembled but not started. */
export interface AssembledProxy {
  readonly agent: Agent;
  /** Applies fields that can change while it runs, and reports them from then on. */
  reconfigure(plan: ConfigInForce): void;
  readonly metrics: AgentMetrics;
  readonly history: History;
  run(signal: AbortSignal): Promise<void>;
}

export function assembleProxy(parts: ProxyParts): AssembledProxy {
  const { config, mode, opened, source, nodeName, log } = parts;
  const { settings } = config;
  const startedAtMs = systemClock.monotonicMs();
  const addresses = knownAddresses();
  const manager = new ServiceManager({
    env: process.env,
    onProblem: (error) => log.warn({ code: error.code }, error.message),
  });
  // The parts below and the agent need each other: the agent is made last and read lazily.
  const agentOf = (): Agent => agent;
  const budget = new ConnectionBudget(limitsFor(openFileLimit()));
  const relay = settings.features.localhostNodePorts ? localhostRelay(agentOf, log) : undefined;
  const metrics = agentMetrics(parts, { agentOf, budget, relay, startedAtMs });
  const serviceHealth = serviceHealthServers(parts, { agentOf, budget });
  const history = openHistory(parts, agentOf);
  const flows = followFlows({
    agent: agentOf,
    addresses,
    metrics,
    history,
    log,
    conntrack: flowsOf(mode, { ...settings, runFolder: parts.runFolder }, log),
  });
  const routes = serviceRoutes(settings, log);
  const agent = new Agent({
    plane: opened.plane,
    source,
    addresses,
    hostSockets: hostSockets(log),
    settings,
    needs: traitsOf(settings.mode).needs,
    nodeName,
    clock: systemClock,
    log,
    observers: [
      ...metrics.observers,
      history.observer,
      serviceHealth,
      ...(relay ? [relay] : []),
      flows.observer,
      ...(routes ? [routes.observer(() => agent.facts)] : []),
      logObserver(log),
      pacedEvents(parts.events),
      addressEvents(parts.events, nodeName),
      troubleEvents({ events: parts.events, nodeName, clock: systemClock }),
      { onFirstSync: () => warnOfEmptyScope(agentOf(), log) },
      { onFirstSync: () => manager.ready(`${mode.name} on ${hostname()}`) },
      ...(parts.onFirstSync ? [{ onFirstSync: parts.onFirstSync }] : []),
    ],
  });
  let plan: ConfigInForce = { config, restart: [] };
  return {
    agent,
    reconfigure: (changed) => {
      plan = changed;
      agent.reconfigure(changed.config.settings);
    },
    metrics,
    history,
    run: async (signal) => {
      signal.addEventListener('abort', () => manager.stopping(), { once: true });
      signal.addEventListener('abort', () => serviceHealth.close(), { once: true });
      signal.addEventListener('abort', () => relay?.close(), { once: true });
      await runTogether(
        [
          (stop) => agent.run(stop),
          (stop) => flows.run(stop),
          ...(routes ? [(stop: AbortSignal) => routes.run(stop)] : []),
          ...(parts.podNetwork ? [(stop: AbortSignal) => podNetwork(parts, stop)] : []),
          (stop) => parts.events.run(stop),
          ...serverTasks({
            ...parts,
            inForce: () => plan,
            agent,
            ...(routes ? { routes } : {}),
            metrics,
            history,
            budget,
            startedAtMs,
          }),
          (stop) => watchdog(manager, agent, stop),
        ],
        signal,
      );
    },
  };
}

/** With what the run before has saved. */
function openHistory({ mode, runFolder }: ProxyParts, agentOf: () => Agent): History {
  return new History({
    mode: mode.name,
    version: VERSION,
    clock: systemClock,
    facts: () => agentOf().facts,
    past: pastEntries(readSavedHistory(join(runFolder, HISTORY_FILE)), systemClock),
  });
}

function agentMetrics(
  { config, mode, opened, restClient, droppedLogLineCount }: ProxyParts,
  measured: {
    readonly agentOf: () => Agent;
    readonly budget: ConnectionBudget;
    readonly relay: LocalhostRelay | undefined;
    readonly startedAtMs: number;
  },
): AgentMetrics {
  const { agentOf, budget, relay, startedAtMs } = measured;
  const { plane, series } = opened;
  return new AgentMetrics({
    failureNames: mode.failureMetrics,
    ...(mode.readsAttachmentsCheaply
      ? { attachments: async () => (await plane.read('attachments')) ?? [] }
      : {}),
    ...(series ? { series } : {}),
    ...(config.settings.serviceMetrics > 0
      ? {
          services: {
            counters: async () => (await plane.read('counters')) ?? [],
            rejected: () => plane.read('rejected'),
            most: config.settings.serviceMetrics,
          },
        }
      : {}),
    kubernetes: { version: KUBE_PROXY_VERSION, features: featureStates(config.fields) },
    ...(restClient ? { restClient } : {}),
    ...(relay ? { relay: () => relay.counts() } : {}),
    mode: mode.name,
    version: VERSION,
    clock: systemClock,
    startedAtMs,
    snapshot: () => agentOf().snapshot(),
    noLocal: () => agentOf().noLocal(),
    conntrack: () => conntrackFill(kernelSysctls()),
    pressure: () => ({
      connectionCount: budget.count,
      evictedConnectionCount: budget.evictedCount,
      droppedLogLineCount: droppedLogLineCount(),
    }),
  });
}

function serviceHealthServers(
  { log, events }: Pick<ProxyParts, 'log' | 'events'>,
  parts: { readonly agentOf: () => Agent; readonly budget: ConnectionBudget },
): ServiceHealthServers {
  return new ServiceHealthServers({
    facts: () => parts.agentOf().facts,
    isHealthy: () => readyz(parts.agentOf().conditions()).ok,
    budget: parts.budget,
    onListenFailure: ({ namespace, name, port, error }) => {
      log.warn({ service: `${namespace}/${name}`, port }, error.message);
      events.serviceHealthFailed({ namespace, name }, error.message);
    },
    onProblem: (error) => log.warn(error.message),
  });
}

async function podNetwork({ podNetwork: network }: ProxyParts, signal: AbortSignal): Promise<void> {
  await network?.run(signal);
}

/** Misspelt names and namespaces that do not exist look the same to the API server. */
function warnOfEmptyScope(agent: Agent, log: Logger): void {
  const empty = agent.scope()?.empty ?? [];
  if (empty.length > 0) log.warn({ parts: empty }, 'no Service found in parts of fairlead.scope');
}

/** Without a watchdog it only waits for the signal. */
async function watchdog(manager: ServiceManager, agent: Agent, signal: AbortSignal): Promise<void> {
  await manager.runWatchdog(() => agent.snapshot().atMs > 0, signal);
  await untilAborted(signal);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Ports that processes of this machine listen on, from the kernel. */
function hostSockets(log: Logger): HostSockets {
  let told = '';
  const onProblem = (error: unknown): void => {
    const message = `cannot list the listening sockets of this machine: ${String(error)}`;
    if (message !== told) log.warn(message);
    told = message;
  };
  return {
    run: (onChange, signal) => watchHostSockets(onChange, signal, { onProblem }),
    owners: socketOwners,
  };
}

/** Two file descriptors for each connection, and a quarter of all for the relay. */
const DESCRIPTORS_PER_CONNECTION = 8;

/** TCP node ports on loopback, for modes that cannot redirect packets away from it. */
function localhostRelay(agent: () => Agent, log: Logger): LocalhostRelay {
  return new LocalhostRelay({
    facts: () => agent().facts,
    rows: () => agent().desired().rows,
    slots: new RelaySlots(Math.floor(openFileLimit() / DESCRIPTORS_PER_CONNECTION)),
    monotonicMs: () => systemClock.monotonicMs(),
    onListenFailure: (error) => log.warn({ code: error.code }, `${error.message}; ${error.next}`),
    onProblem: (error) => log.warn(error.message),
  });
}

/** What the agent does not log itself: the first sync, and at debug level every step. */
function logObserver(log: Logger): AgentObserver {
  return {
    onFirstSync: () =>
      log.info({ afterMs: Math.round(performance.now()) }, 'every Service is in the kernel'),
    onStep: ({ durationMs, transactionCount, acknowledgedCount, pendingCount }) =>
      log.debug({ durationMs, transactionCount, acknowledgedCount, pendingCount }, 'wrote'),
  };
}
