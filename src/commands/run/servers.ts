import { join } from 'node:path';
import { parse } from 'yaml';
import type { Agent } from '../../agent/agent.ts';
import type { History } from '../../agent/history/history.ts';
import { historyPage } from '../../agent/history/history-page.ts';
import { keepHistory } from '../../agent/history/saved-history.ts';
import { serviceNow } from '../../agent/history/service-now.ts';
import type { Events } from '../../agent/kubernetes-events.ts';
import type { AgentMetrics } from '../../agent/metrics/agent-metrics.ts';
import type { ConnectionBudget } from '../../agent/servers/connection-budget.ts';
import { runHealthServer } from '../../agent/servers/health-server.ts';
import { runMetricsServer } from '../../agent/servers/metrics-server.ts';
import { RowPages } from '../../agent/servers/row-pages.ts';
import { runStatusSocket } from '../../agent/servers/status-socket.ts';
import { TrafficPages } from '../../agent/servers/traffic-pages.ts';
import type { ServiceRoutes } from '../../agent/service-routes.ts';
import { statusPage } from '../../agent/status-page.ts';
import { shownFlags } from '../../config/flags/shown.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { ChangePlan } from '../../config/reload-plan.ts';
import { HISTORY_FILE, STATUS_SOCKET } from '../../config/run-folder.ts';
import { toConfigurationYaml } from '../../config/write.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import type { Logger } from '../../log/logger.ts';
import type { OpenMode } from '../../modes/mode.ts';
import type { PodNetwork } from '../../modes/wing.ts';
import { systemClock } from '../../time/clock.ts';
import { agentNode } from './describe-agent-node.ts';
import { machineFindings } from './machine-findings.ts';
import { VERSION } from './program-version.ts';

type Task = (signal: AbortSignal) => Promise<void>;

/** Some fields change while the process runs, others wait for a restart. */
export type ConfigInForce = Pick<ChangePlan, 'config' | 'restart'>;

/** The servers for load balancers, Prometheus and the other commands. */
export function serverTasks(parts: {
  readonly agent: Agent;
  readonly opened: OpenMode;
  readonly routes?: ServiceRoutes;
  readonly podNetwork?: Pick<PodNetwork, 'counts'>;
  readonly metrics: AgentMetrics;
  readonly history: History;
  readonly budget: ConnectionBudget;
  readonly inForce: () => ConfigInForce;
  readonly nodeName: string;
  /** Undefined: its objects come from a cluster. */
  readonly manifests?: readonly string[];
  readonly events: Events;
  readonly log: Logger;
  readonly runFolder: string;
  readonly startedAtMs: number;
}): Task[] {
  const { agent, opened, metrics, budget, log, startedAtMs } = parts;
  const { plane } = opened;
  const currentConfig = (): LoadedConfig => parts.inForce().config;
  const { settings } = currentConfig();
  const rowPages = new RowPages(
    () => agent.table,
    (id) => agent.rowState(id),
  );
  const historyPages = {
    history: parts.history,
    clock: systemClock,
    serviceNow: (service: string) => serviceNow(agent.table, service),
  };
  const awaitsRestart = () => parts.inForce().restart.map(({ path }) => path);
  const machine = () =>
    machineFindings({
      sysctls: kernelSysctls(),
      rows: agent.desired().rows,
      isNode: settings.nodeObject !== 'none',
    });
  const { endsWhenServerFails, healthServer, metricsServer, features } = settings;
  const onProblem = (error: Error) => log.warn(error.message);
  const health = healthServer;
  return [
    ...(health
      ? [
          (signal: AbortSignal) =>
            runHealthServer(
              {
                listen: health,
                budget,
                endsWhenServerFails,
                conditions: () => agent.conditions(),
                onProblem,
                onAnswer: (probe, status) => metrics.onProbe(probe, status),
              },
              signal,
            ),
        ]
      : []),
    (signal) =>
      runMetricsServer(
        {
          listen: metricsServer,
          budget,
          endsWhenServerFails,
          mode: settings.mode,
          metrics,
          configuration: () => parse(toConfigurationYaml(currentConfig().fields)) as unknown,
          ...(features.flagzPage
            ? { flagz: { flags: () => shownFlags(currentConfig().flags) } }
            : {}),
          ...(features.statuszPage
            ? { statusz: { version: VERSION, startedAtMs, clock: systemClock } }
            : {}),
          onProblem,
        },
        signal,
      ),
    (signal) =>
      keepHistory(
        {
          path: join(parts.runFolder, HISTORY_FILE),
          history: parts.history,
          clock: systemClock,
          onProblem: (error) => log.warn(`the history is not saved: ${String(error)}`),
        },
        signal,
      ),
    (signal) =>
      runStatusSocket(
        {
          path: join(parts.runFolder, STATUS_SOCKET),
          snapshot: () => statusPage({ ...parts, ...opened, machine, awaitsRestart }),
          counters: async () => (await plane.read('counters')) ?? [],
          node: () => agentNode({ ...parts, currentConfig }),
          rows: (request) => rowPages.page(request),
          traffic: new TrafficPages({
            run: parts.history.run,
            table: () => agent.table,
            plane,
            ...(opened.connectionTotals ? { connectionTotals: opened.connectionTotals } : {}),
            monotonicMs: () => systemClock.monotonicMs(),
          }),
          history: (request) => historyPage(request, historyPages),
          onProblem,
        },
        signal,
      ),
  ];
}
