import type { Tuple } from '../drops/drop.ts';
import type { TraceEvent } from '../trace/decode-trace.ts';

/** The first packet of a new connection, and what it met. */
export interface FirstPacket {
  /** As the client sent it. */
  readonly first: Tuple;
  /** After all rules; undefined: it did not come so far. */
  readonly translated: Tuple | undefined;
  /** What it met in nf_tables, in order. */
  readonly events: readonly TraceEvent[];
  /** False: the kernel had no room for some events. */
  readonly isComplete: boolean;
  /** A rule of this machine sent a reset or an ICMP error to the client. */
  readonly isRejected: boolean;
}

/**
 * `refused`: rejected by a rule, or its conntrack entry was deleted, as conntrack does when the only
 * answer to a connection attempt is a reset.
 */
export type Answer = 'answered' | 'refused' | 'none';
