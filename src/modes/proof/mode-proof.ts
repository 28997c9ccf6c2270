import type { Desired } from '../../dataplanes/contract.ts';
import type { Family } from '../../forwarding/model.ts';
import type { TraceEvent } from '../../linux/trace/decode-trace.ts';

/** A rule that a traced packet met. */
export type TracedRule = Pick<TraceEvent, 'family' | 'table' | 'chain' | 'handle' | 'target'>;

/** What one rule does, in words; undefined: it is not a rule of ours as desired. */
export type Account = (rule: TracedRule) => string | undefined;

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
  /** Our rules may be in tables that are not traced. */
  readonly mayBeBlind?: true;
}
