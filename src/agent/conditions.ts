import type { Kind } from '../cluster/object-kinds.ts';
import type { Family } from '../forwarding/model.ts';

/** One named statement about the agent. Every condition is put so that true is good. */
export interface Condition {
  readonly isTrue: boolean;
  /** Since when it has been so, in milliseconds since 1970 by the wall clock as it is now. */
  readonly sinceMs: number;
  /** One sentence for people: why it is so. */
  readonly why: string;
}

/** Whether the kernel follows in one family. */
export interface FamilyCondition extends Condition {
  /** When the oldest change that the kernel has not got came up; undefined: it has all. */
  readonly oldestPendingAtMs?: number;
  /** When the kernel last had the whole desired state; undefined: never yet. */
  readonly lastSyncedAtMs?: number;
}

export interface Conditions {
  /** The watch of each kind is established. While it is not, the kernel keeps its rows. */
  readonly connected: Readonly<Record<Kind, Condition>>;
  /** Every kind was received recently: the desired state is that of the cluster now. */
  readonly apiFresh: Condition;
  /** The API server has everything that changes how Services are served. */
  readonly apiComplete: Condition;
  /**
   * The first list of every kind is complete: from here on the kernel is written to. Also false if
   * parts of the scope are forbidden, without which it is written to.
   */
  readonly listed: Condition;
  /** The kernel has had the whole desired state once since the start. Once true it stays so. */
  readonly firstSync: Condition;
  /** The kernel has everything now. */
  readonly synced: Condition;
  /** No change has waited for the kernel for longer than twice the sync period. */
  readonly timely: Readonly<Record<Family, FamilyCondition>>;
  /** No last attempt has failed. */
  readonly errorFree: Condition;
  /** No other process has changed our kernel objects within the last ten minutes. */
  readonly undisturbed: Condition;
  /** A change of our kernel objects by another process would be reported. */
  readonly watching: Condition;
  /** No row is written in parts, and no namespace waits in the queue for more than a second. */
  readonly unpaced: Condition;
  /** No Service is at its affinity quota, so that all new clients are stored. */
  readonly affinityRoom: Condition;
  /** Every address and port that a Service claims is served. */
  readonly addressesServed: Condition;
  /** No process of the machine loses its clients to a node port. */
  readonly nodePortsFree: Condition;
  /** Load balancers may send traffic to this node. */
  readonly nodeEligible: Condition;
}

/** An answer of a health endpoint. */
export interface Verdict {
  readonly ok: boolean;
  /** The conditions that it fails for, by name, such as `timely.IPv4`; sorted. */
  readonly failing: readonly string[];
}

/** Restarting the process may help when this fails; an API that is away is no reason to. */
export function livez(conditions: Conditions): Verdict {
  return verdict(timeliness(conditions));
}

/** The node may be relied on: everything was in the kernel once, and it follows. */
export function readyz(conditions: Conditions): Verdict {
  return verdict(readiness(conditions));
}

/** Load balancers may send traffic here: ready, and the node is not about to go. */
export function healthz(conditions: Conditions): Verdict {
  return verdict({ ...readiness(conditions), nodeEligible: conditions.nodeEligible });
}

/** After the first sync, lists are incomplete only if parts of the scope are forbidden. */
function readiness(conditions: Conditions): Record<string, Condition> {
  const { firstSync, listed } = conditions;
  return { ...timeliness(conditions), firstSync, ...(firstSync.isTrue ? { listed } : {}) };
}

function timeliness({ timely }: Conditions): Record<string, Condition> {
  return { 'timely.IPv4': timely.IPv4, 'timely.IPv6': timely.IPv6 };
}

function verdict(needed: Readonly<Record<string, Condition>>): Verdict {
  const failing = Object.keys(needed).filter((name) => needed[name]?.isTrue !== true);
  return { ok: failing.length === 0, failing: failing.sort() };
}
