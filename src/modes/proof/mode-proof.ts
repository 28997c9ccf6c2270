import type { Desired } from '../../dataplanes/contract.ts';
import type { Family } from '../../forwarding/model.ts';
import type { TraceEvent } from '../../linux/trace/decode-trace.ts';

/** A rule that a traced packet met. */
export type TracedRule = Pick<
  TraceEvent,
  'family' | 'table' | 'chain' | 'handle' | 'target' | 'verdict'
>;

/** What one rule does, in words; undefined: it is not a rule of ours as desired. */
export type Account = (rule: TracedRule) => string | undefined;

/** The connection of a process to an endpoint; both `address:port`. */
export interface ProcessConnection {
  readonly source: string;
  readonly endpoint: string;
}

export interface ModeProof {
  /** The probe for TCP where none is named. */
  readonly usualTcpProbe: 'syn' | 'connect';
  isOurs(rule: TracedRule): boolean;
  /** Reads the rules of the kernel. `desired` need not have rows of other Services. */
  account(of: {
    readonly desired: Desired;
    readonly family: Family;
    readonly met: readonly TracedRule[];
  }): Promise<Account>;
  /** Where a process of the mode listens, which makes connections of its own. */
  readonly processAddresses?: readonly string[];
  /**
   * Where that process has connected a client to, while the connection is open; undefined: to no
   * endpoint within its deadline.
   */
  connectedTo?(of: {
    readonly runFolder: string;
    readonly client: { readonly address: string; readonly port: number };
    readonly signal: AbortSignal;
  }): Promise<ProcessConnection | undefined>;
  /** Our rules may be in tables that are not traced. */
  readonly mayBeBlind?: true;
}
