import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { PodDetection } from '../../../forwarding/answer/place.ts';
import type { RuleParts } from './rule.ts';

/** The abilities of the machine's kernel, detected once. */
export interface Abilities {
  /** Counters that rules can name: `-m nfacct`. */
  readonly hasAccounts: boolean;
  /**
   * Packets that conntrack classifies as invalid are dropped, unless it is configured to be
   * liberal.
   */
  readonly dropsInvalid: boolean;
}

/** Everything beside a row that its rules depend on. */
export interface Setting {
  readonly facts: NodeFacts;
  readonly abilities: Abilities;
}

export const LOOPBACK = '127.0.0.0/8';
export const INVALID_ACCOUNT = 'ct_state_invalid_dropped_pkts';
export const LOCALHOST_ACCOUNT = 'localhost_nps_accepted_pkts';

/** The match for packets of pods of this node, or for all others. */
export function podMatch(by: PodDetection, isPod: boolean): RuleParts {
  const not = isPod ? '' : '! ';
  switch (by.by) {
    case 'cidr':
      return { source: not + by.cidr };
    case 'interface':
      return { inInterface: not + by.name };
    case 'interface-prefix':
      return { inInterface: `${not}${by.prefix}+` };
  }
}
