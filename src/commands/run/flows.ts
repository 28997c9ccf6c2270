import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Agent } from '../../agent/agent.ts';
import type { AgentMetrics } from '../../agent/metrics/agent-metrics.ts';
import type { AgentObserver } from '../../agent/observer.ts';
import type { Settings } from '../../config/settings.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import { JoinedFlows } from '../../flows/joined.ts';
import { FlowReconciler } from '../../flows/reconciler.ts';
import { FAMILIES, servicePortName } from '../../forwarding/model.ts';
import { BpfError } from '../../linux/bpf/errors.ts';
import { type Conntrack, KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { socketFlows } from './ebpf.ts';
import type { KnownAddresses } from './known-addresses.ts';
import { partsOfMode } from './plane.ts';

export interface FollowedFlows {
  readonly observer: AgentObserver;
  run(signal: AbortSignal): Promise<void>;
}

/** Keeps connection tracking in step with what the kernel has acknowledged. */
export function followFlows(of: {
  readonly agent: () => Agent;
  readonly addresses: KnownAddresses;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  readonly settings: Settings;
}): FollowedFlows {
  const { agent, addresses, metrics, log, settings } = of;
  const reconciler = new FlowReconciler({
    conntrack: rememberedFlows(settings, log),
    nodePortAddresses: () => servedAddresses(agent().facts, addresses.current),
    // By which interface a flow came, the kernel does not remember.
    clientAddresses: () =>
      agent().facts.clientInterfaces === undefined ? undefined : addresses.current,
    options: { isServing: (id, endpoint) => agent().table.isServing(id, endpoint) },
    observer: {
      onDeleted: ({ service, reason, endpoint, count }) =>
        log.debug(
          { service: servicePortName(service), reason, endpoint, count },
          'deleted tracked flows',
        ),
      onRun: ({ families, durationMs, deleted, error }) => {
        // One look serves both families: what it deleted is counted once.
        families.forEach((family, index) => {
          metrics.onFlowsReconciled({
            family,
            durationMs,
            deletedCount: index === 0 ? deleted : 0,
          });
        });
        if (error !== undefined) log.warn(`tracked flows: ${String(error)}`);
      },
    },
  });
  // Of the facts about the node, only these decide about a flow.
  let judgedWith: NodeFacts['nodePortAddresses'] | undefined;
  return {
    run: (signal) => reconciler.run(signal),
    observer: {
      onReceived: ({ kind, service }) => {
        if (kind === 'slice') reconciler.endpointsChanged(service);
      },
      onAcknowledged: ({ changes }) => reconciler.acknowledged(changes),
      onFirstSync: () => reconciler.adopt(agent().desired().rows),
      onConfigured: ({ nodePortAddresses }) => {
        if (isDeepStrictEqual(nodePortAddresses, judgedWith)) return;
        judgedWith = nodePortAddresses;
        reconciler.reconsiderAll();
      },
    },
  };
}

/** Where the kernel remembers to which endpoint a flow goes. */
function rememberedFlows({ mode, ebpf }: Settings, log: Logger): Conntrack {
  const tracked = new KernelConntrack();
  if (!partsOfMode(mode).includes('ebpf hooks')) return tracked;
  const onProblem = (error: unknown): void => {
    const next = error instanceof BpfError ? `. Next: ${error.next}` : '';
    log.warn(`sockets of removed endpoints are not ended: ${String(error)}${next}`);
  };
  return new JoinedFlows([tracked, socketFlows(ebpf, onProblem)]);
}

function servedAddresses(facts: NodeFacts, machine: readonly string[]): readonly string[] {
  return FAMILIES.flatMap((family) => {
    const served = facts.nodePortAddresses[family];
    const isV6 = family === 'IPv6';
    return served === 'all' ? machine.filter((text) => text.includes(':') === isV6) : served;
  });
}
