import type { Quantiles } from '../../../../src/agent/snapshot.ts';
import type { FailurePlan } from './failures.ts';

/** What the helper inside a node's network can be asked, and what it answers. */
export interface Questions {
  /** Differences between the kernel and what the API server wants now. */
  diff: { asked: object; answer: readonly string[] };
  /** The same against what was wanted at the last `diff`, without asking the API server. */
  diffAgain: { asked: object; answer: readonly string[] };
  /** Rises with every change of the rules by any process. */
  generation: { asked: object; answer: number };
  insertFlows: { asked: { plan: FlowPlan }; answer: number };
  /** `id` by `client:port` of the flows that were inserted. */
  flows: { asked: { plan: FlowPlan }; answer: Readonly<Record<string, number>> };
  /** Becomes the proxy of the node itself, with calls that fail so often. */
  startProxy: { asked: { failures: FailurePlan }; answer: null };
  stopProxy: { asked: object; answer: null };
  proxy: { asked: { service: string }; answer: ProxyReport };
}

/** UDP flows to endpoints of Services and, as many, to the world. */
export interface FlowPlan {
  readonly count: number;
  readonly services: readonly { readonly address: string; readonly endpoints: readonly string[] }[];
}

export interface ProxyReport {
  readonly isSynced: boolean;
  /** Rows that it knows not to be in the kernel, and why, for error messages. */
  readonly waiting: string;
  /** From receipt to acknowledgement, since the start. */
  readonly received: Quantiles;
  readonly failedCallCount: number;
  readonly callCount: number;
  /** Rows of the requested Service. */
  readonly acknowledgements: readonly Acknowledgement[];
}

/** One transaction with a row. Times of the monotonic clock, which all processes share. */
export interface Acknowledgement {
  readonly begunMs: number;
  readonly acknowledgedMs: number;
  /** Endpoints that the row has with it. */
  readonly endpoints: readonly string[];
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
