import { isDeepStrictEqual } from 'node:util';
import type { Agent } from '../../agent/agent.ts';
import type { History } from '../../agent/history/history.ts';
import type { AgentMetrics } from '../../agent/metrics/agent-metrics.ts';
import type { AgentObserver } from '../../agent/observer.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import { FlowReconciler } from '../../flows/flow-reconciler.ts';
import { FAMILIES, servicePortName } from '../../forwarding/model.ts';
import type { Conntrack } from '../../linux/conntrack/conntrack.ts';
import type { Logger } from '../../log/logger.ts';
import type { Mode } from '../../modes/mode.ts';
import type { Surroundings } from '../../modes/part.ts';
import type { KnownAddresses } from './known-addresses.ts';

export interface FollowedFlows {
  readonly observer: AgentObserver;
  run(signal: AbortSignal): Promise<void>;
}

/** Keeps connection tracking in step with what the kernel has acknowledged. */
export function followFlows(parts: {
  readonly agent: () => Agent;
  readonly addresses: KnownAddresses;
  readonly metrics: AgentMetrics;
  readonly history: Pick<History, 'flowsEnded'>;
  readonly log: Logger;
  readonly conntrack: Conntrack;
}): FollowedFlows {
  const { agent, addresses, metrics, history, log, conntrack } = parts;
  const reconciler = new FlowReconciler({
    conntrack,
    nodePortAddresses: () => servedAddresses(agent().facts, addresses.current),
    // A conntrack entry does not have the interface of its first packet.
    clientAddresses: () =>
      agent().facts.clientInterfaces === undefined ? undefined : addresses.current,
    options: { isServing: (id, endpoint) => agent().table.isServing(id, endpoint) },
    observer: {
      onDeleted: ({ service, reason, endpoint, count }) => {
        const name = `${service.namespace}/${service.service}`;
        history.flowsEnded({ service: name, reason, endpoint, count });
        log.debug(
          { service: servicePortName(service), reason, endpoint, count },
          'deleted conntrack entries',
        );
      },
      onRun: ({ families, durationMs, deleted, error }) => {
        // One scan covers both families: count what it deleted once.
        families.forEach((family, index) => {
          metrics.onFlowsReconciled({
            family,
            durationMs,
            deletedCount: index === 0 ? deleted : 0,
          });
        });
        if (error !== undefined)
          log.warn(`reconciling conntrack entries failed, retrying: ${String(error)}`);
      },
    },
  });
  // The only facts about the node that decide whether a flow is kept.
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

/** Where the kernel keeps the endpoint that a flow was sent to, in this mode. */
export function flowsOf(mode: Mode, around: Surroundings, log: Logger): Conntrack {
  return mode.flows(around, (error) => {
    const next = error instanceof Error && 'next' in error ? `. Next: ${error.next}` : '';
    log.warn(`cannot close sockets of removed endpoints: ${String(error)}${next}`);
  });
}

function servedAddresses(facts: NodeFacts, machine: readonly string[]): readonly string[] {
  return FAMILIES.flatMap((family) => {
    const served = facts.nodePortAddresses[family];
    const isV6 = family === 'IPv6';
    return served === 'all' ? machine.filter((text) => text.includes(':') === isV6) : served;
  });
}
