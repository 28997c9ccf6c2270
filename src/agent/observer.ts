import type { Kind } from '../cluster/object-kinds.ts';
import type { Drift, Inspection, InspectionDepth, NodeFacts } from '../dataplanes/contract.ts';
import type { Family, ServicePortId } from '../forwarding/model.ts';
import type { NotServedFrontend } from '../forwarding/not-served.ts';
import type { Change } from '../forwarding/table.ts';
import type { Logger } from '../log/logger.ts';
import type { Failure } from './failure.ts';
import type { ServiceHealthCheck } from './health-checks.ts';
import type { ObjectChange } from './history/happenings.ts';
import type { NodePortConflict } from './node-port-conflicts.ts';

/** An object came, changed or went. */
export interface Received {
  readonly kind: Kind;
  readonly type: 'put' | 'delete';
  /** `namespace/name` of the Service that it is, or is about, where the event has it. */
  readonly service?: string | undefined;
  /** On the monotonic clock. */
  readonly atMs: number;
}

/** One transaction that the kernel has acknowledged. */
export interface Acknowledged {
  readonly changes: readonly Change[];
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Changes of the API that are in the kernel with it, completely. */
  readonly propagations: readonly Propagation[];
}

/** The way of one change of one Service from the API into the kernel. */
export interface Propagation {
  /** `namespace/name`. */
  readonly service: string;
  readonly families: readonly Family[];
  /** From our receipt to the rows that follow from it. */
  readonly resolveMs: number;
  /** From our receipt to the acknowledgement of the kernel. */
  readonly totalMs: number;
  /** Receipt of the first change that it covers, on the monotonic clock. */
  readonly receivedAtMs: number;
  /** Receipt of the last one. */
  readonly lastReceivedAtMs: number;
  /** From each time at which a controller was triggered to the acknowledgement. */
  readonly sinceTriggeredMs: readonly number[];
}

/** Received changes of one Service that need no write: no row changes, or not any more. */
export type Unneeded = Pick<Propagation, 'service' | 'receivedAtMs' | 'lastReceivedAtMs'>;

/**
 * A batch of rows was attempted: one transaction, or several to separate bad rows from good ones.
 */
export interface StepReport {
  /** On the monotonic clock. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly transactionCount: number;
  readonly acknowledgedCount: number;
  readonly families: readonly Family[];
  /** Rows that are not in the kernel yet, after it. */
  readonly pendingCount: number;
  /** Those of them that the kernel rejected. */
  readonly failedCount: number;
}

/** One part of a row that is too large for one transaction is in the kernel. */
export interface PartReport {
  readonly id: ServicePortId;
  /** Of this row so far, including this one. */
  readonly writtenCount: number;
  /** Maximum of kernel objects that all parts change together. */
  readonly objectCount: number;
  /** Since the first part was begun. */
  readonly elapsedMs: number;
  readonly isFinished: boolean;
}

/** Rows that the kernel rejected; they will be retried. */
export interface StepFailure extends Failure {
  readonly families: readonly Family[];
  readonly rowCount: number;
  /** Of the first rows, `namespace/name`, each once. */
  readonly services: readonly string[];
  /** `row`: one row, or rows that can only change together. `plane`: every attempt failed. */
  readonly scope: 'row' | 'plane';
}

export interface InspectionReport {
  readonly depth: InspectionDepth;
  readonly reason: InspectionReason;
  /** The end, on the monotonic clock; in a snapshot, milliseconds since 1970. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly rowCount: number;
  readonly wrongCount: number;
  readonly writeCount: number;
  readonly differenceCount: number;
  readonly differences: Inspection['differences'];
}

export type InspectionReason = 'start' | 'drift' | 'routine' | 'watch was interrupted' | 'failures';

/**
 * Observers of the agent: metrics, connection tracking, events. Methods are called synchronously
 * and in order, must return soon, and cannot disturb the agent: what they throw is logged.
 */
export interface AgentObserver {
  onReceived?(received: Received): void;
  /** An object changed after the first lists were complete; `atMs` as in `onReceived`. */
  onObjectChanged?(change: ObjectChange, atMs: number): void;
  onUnneeded?(unneeded: readonly Unneeded[]): void;
  onAcknowledged?(acknowledged: Acknowledged): void;
  onStep?(report: StepReport): void;
  onPart?(part: PartReport): void;
  onStepFailed?(failure: StepFailure): void;
  onDrift?(drift: Drift): void;
  onInspected?(report: InspectionReport): void;
  onInspectionFailed?(failure: Failure): void;
  onConfigured?(facts: NodeFacts): void;
  /** Everything that was wanted is in the kernel, for the first time. */
  onFirstSync?(): void;
  /** An address that a Service claims is not served, for the first time or for a new reason. */
  onNotServed?(frontend: NotServedFrontend): void;
  /** A process holds the number of a node port, and loses its clients to the Service. */
  onNodePortConflict?(conflict: NodePortConflict): void;
  /** The health check of a Service changed; undefined: it has none now. */
  onHealthCheck?(service: string, check: ServiceHealthCheck | undefined): void;
  /** A condition became false, or true again. */
  onCondition?(name: string, isTrue: boolean): void;
}

/** Calls every observer; none of them can disturb the others, or the agent. */
export class Observers {
  readonly #observers: readonly AgentObserver[];
  readonly #log: Logger;

  constructor(observers: readonly AgentObserver[], log: Logger) {
    this.#observers = observers;
    this.#log = log;
  }

  tell(what: (observer: AgentObserver) => void): void {
    for (const observer of this.#observers) {
      try {
        what(observer);
      } catch (error) {
        this.#log.error({ err: error }, 'an observer of the agent failed');
      }
    }
  }
}
