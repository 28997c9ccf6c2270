import type { Family, ServicePortId } from '../forwarding/model.ts';
import type { StaleReason } from './verdict.ts';

/** Deleted flows, for logs and metrics. */
export interface Deleted {
  readonly service: ServicePortId;
  readonly reason: StaleReason;
  /** `address:port` that the flows went to; `[address]:port` for IPv6. */
  readonly endpoint: string;
  readonly count: number;
}

/** One pass over the flows of some frontends. */
export interface FlowRun {
  /** The families of the frontends. */
  readonly families: readonly Family[];
  readonly durationMs: number;
  readonly frontends: number;
  /** Flows that the kernel listed. */
  readonly seen: number;
  readonly deleted: number;
  /** Flows kept because their endpoint still serves. */
  readonly draining: number;
  /** TCP connections kept because their SYN may still be answered. */
  readonly youngTries: number;
  /** The pass failed and is retried. */
  readonly error?: unknown;
}

export interface FlowObserver {
  onDeleted(deleted: Deleted): void;
  onRun(run: FlowRun): void;
}
