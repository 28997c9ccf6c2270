import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import { BegunRows } from './begun.ts';

/** Time within which a reachable host has answered a SYN; the first retransmission comes then. */
const ANSWERED_WITHIN_MS = 1000;
/** Attempts first seen at different times share a check. */
const LEAST_BETWEEN_MS = 200;

/**
 * Connection attempts that may still be answered: a real host has the address that the Service got,
 * and its answer may be in flight. If the entry of the SYN were deleted now, the next packets would
 * be translated to an endpoint, which would reset a connection it does not know. An attempt's age
 * counts from when it was first seen, not from its last SYN: newer kernels send the first SYNs
 * every second, so the client is never silent for longer.
 */
export class YoungTries {
  readonly rows = new BegunRows();
  readonly #seenAtMs = new Map<Flow['id'], number>();
  readonly #notBeforeMs: number;
  #firstSeenAtMs = Number.POSITIVE_INFINITY;

  constructor(nowMs: number) {
    this.#notBeforeMs = nowMs + LEAST_BETWEEN_MS;
  }

  /** Time of the next check; Infinity: none. */
  get dueAtMs(): number {
    return Math.max(this.#firstSeenAtMs + ANSWERED_WITHIN_MS, this.#notBeforeMs);
  }

  add({ id }: Flow, tried: { readonly row: Forwarding; readonly seenAtMs: number }): void {
    this.rows.want(servicePortKey(tried.row.id), tried.row);
    if (this.#seenAtMs.has(id)) return;
    this.#seenAtMs.set(id, tried.seenAtMs);
    this.#firstSeenAtMs = Math.min(this.#firstSeenAtMs, tried.seenAtMs);
  }

  seenAtMs({ id }: Flow): number | undefined {
    return this.#seenAtMs.get(id);
  }
}

/** Evidence that an attempt will not be answered. */
export interface SilenceGrounds {
  /** Conntrack timeout of SYN_SENT. */
  readonly synSentSeconds: number;
  /** When the dump was started. */
  readonly lookedAtMs: number;
  seenAtMs(flow: Flow): number | undefined;
}

/** Whether no SYN of the last second is in flight, or an earlier one is older than a second. */
export function isLeftUnanswered(flow: Flow, grounds: SilenceGrounds): boolean {
  // The kernel reports whole seconds, rounded down: right after a SYN it is one less than the
  // timeout.
  if (flow.timeoutSeconds <= grounds.synSentSeconds - 2) return true;
  const seenAtMs = grounds.seenAtMs(flow);
  return seenAtMs !== undefined && grounds.lookedAtMs - seenAtMs >= ANSWERED_WITHIN_MS;
}
