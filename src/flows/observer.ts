import type { Family, ServicePortId } from '../forwarding/model.ts';
import type { StaleReason } from './verdict.ts';

/** Flows that were deleted: a line for people and a count for a metric. */
export interface Deleted {
  readonly service: ServicePortId;
  readonly reason: StaleReason;
  /** `address:port` that the flows went to; `[address]:port` for IPv6. */
  readonly endpoint: string;
  readonly count: number;
}

/** One look at the flows of some frontends. */
export interface FlowRun {
  /** The families of the frontends. */
  readonly families: readonly Family[];
  readonly durationMs: number;
  readonly frontends: number;
  /** Flows that the kernel told of. */
  readonly seen: number;
  readonly deleted: number;
  /** Flows that were spared because their endpoint still serves. */
  readonly draining: number;
  /** Connections of TCP that were spared because somebody may still answer their SYN. */
  readonly youngTries: number;
  /** It failed, and will be done again. */
  readonly error?: unknown;
}

export interface FlowObserver {
  onDeleted(deleted: Deleted): void;
  onRun(run: FlowRun): void;
}
