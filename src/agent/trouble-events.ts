import type { Clock } from '../time/clock.ts';
import { serviceOf } from './entry.ts';
import type { Events } from './events.ts';
import type { AgentObserver } from './observer.ts';

/** A repair alone is no news: an administrator may have tried something. */
const REPAIRS_TOLD = 3;
const REPAIRS_WITHIN_MS = 600_000;
/** The first failures may be of the moment. */
const FAILURES_TOLD = 3;
/** Services with failures that are counted; beyond it some are told later, or never. */
const MOST_COUNTED = 1_024;

export interface TroubleEventsOptions {
  readonly events: Pick<Events, 'changedRepeatedly' | 'notInKernel'>;
  readonly nodeName: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Events for what an operator should see: another process keeps changing our rules, and a Service
 * that the kernel keeps rejecting. No process and no message is named, which may name other Services:
 * `fairlead history` and `fairlead status` on the node do.
 */
export function troubleEvents({ events, nodeName, clock }: TroubleEventsOptions): AgentObserver {
  let repairsAtMs: number[] = [];
  const failures = new Map<string, number>();
  return {
    onInspected: ({ reason, differenceCount, wrongCount }) => {
      if (reason !== 'drift' || (differenceCount === 0 && wrongCount === 0)) return;
      const nowMs = clock.monotonicMs();
      const recent = repairsAtMs.filter((atMs) => nowMs - atMs < REPAIRS_WITHIN_MS);
      repairsAtMs = [...recent, nowMs].slice(-REPAIRS_TOLD);
      if (repairsAtMs.length < REPAIRS_TOLD) return;
      events.changedRepeatedly(
        `another process on node ${nodeName} keeps changing what Fairlead wrote to the kernel; it ` +
          'is repaired each time. `fairlead history` on the node names the process',
      );
    },
    onStepFailed: ({ scope, services, code }) => {
      if (scope !== 'row') return;
      for (const service of services) {
        const count = (failures.get(service) ?? 0) + 1;
        if (count > 1 || failures.size < MOST_COUNTED) failures.set(service, count);
        if (count !== FAILURES_TOLD) continue;
        const [namespace = '', name = ''] = service.split('/', 2);
        const note =
          `the kernel of node ${nodeName} rejects this Service (${code}); it is retried. ` +
          '`fairlead status` on the node has the reason';
        events.notInKernel({ namespace, name }, note);
      }
    },
    onAcknowledged: ({ changes }) => {
      if (failures.size === 0) return;
      for (const { before, after } of changes) {
        const id = (after ?? before)?.id;
        if (id !== undefined) failures.delete(serviceOf(id));
      }
    },
  };
}
