import type { Clock } from '../time/clock.ts';
import type { Events } from './kubernetes-events.ts';
import type { AgentObserver } from './observer.ts';
import { serviceOf } from './outstanding-entry.ts';

/** A repair alone is no news: an administrator may have tried something. */
const REPAIRS_TOLD = 3;
const REPAIRS_WITHIN_MS = 600_000;
/** The first failures may be of the moment. */
const FAILURES_TOLD = 3;
/** Services of a namespace with failures that are counted; beyond it some are told later, or never. */
const MOST_COUNTED = 256;

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
  const failures = new Failures();
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
        if (failures.count(service) !== FAILURES_TOLD) continue;
        const [namespace = '', name = ''] = service.split('/', 2);
        const note =
          `the kernel of node ${nodeName} rejects this Service (${code}); it is retried. ` +
          '`fairlead status` on the node has the reason';
        events.notInKernel({ namespace, name }, note);
      }
    },
    onAcknowledged: ({ changes }) => {
      if (failures.isEmpty) return;
      for (const { before, after } of changes) {
        const id = (after ?? before)?.id;
        if (id !== undefined) failures.delete(serviceOf(id));
      }
    },
  };
}

/** Of Services, by namespace: one with thousands does not keep out those of another. */
class Failures {
  readonly #byNamespace = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#byNamespace.size === 0;
  }

  /** One more; returns how many there were, as far as they are counted. */
  count(service: string): number {
    const namespace = namespaceOf(service);
    const counts = this.#byNamespace.get(namespace) ?? new Map<string, number>();
    const count = (counts.get(service) ?? 0) + 1;
    if (count > 1 || counts.size < MOST_COUNTED) counts.set(service, count);
    this.#byNamespace.set(namespace, counts);
    return count;
  }

  delete(service: string): void {
    const namespace = namespaceOf(service);
    const counts = this.#byNamespace.get(namespace);
    counts?.delete(service);
    if (counts?.size === 0) this.#byNamespace.delete(namespace);
  }
}

function namespaceOf(service: string): string {
  return service.slice(0, service.indexOf('/'));
}
