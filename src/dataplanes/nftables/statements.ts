import type { PodDetection } from '../contract.ts';
import type { ClassSet, SetName } from './sets.ts';

/** Which key a packet is looked up with: the address it was sent to, or the node port alone. */
export type Where = 'service' | 'nodeport';

/** Slots that an endpoint is drawn from. */
export interface Slots {
  readonly count: number;
  readonly offset: number;
}

/** Maps of session affinity that a rule uses; they depend on which list is asked. */
export interface AffinityUse {
  readonly where: Where;
  readonly groups: SetName;
}

/**
 * What a rule does, step by step. One model with two printers: netlink, which the kernel gets, and
 * text, which is what `nft list` shows of it.
 */
export type Statement =
  | { readonly do: 'match-new' }
  | { readonly do: 'match-translated' }
  | { readonly do: 'match-pod'; readonly by: PodDetection; readonly is: boolean }
  | { readonly do: 'match-local'; readonly of: 'saddr' | 'daddr' }
  | { readonly do: 'match-not-loopback' }
  | { readonly do: 'match-range'; readonly cidr: string }
  | { readonly do: 'match-marked'; readonly mark: number }
  | { readonly do: 'match-frontend'; readonly where: Where; readonly set: SetName }
  | { readonly do: 'match-address'; readonly set: SetName }
  | { readonly do: 'match-hairpin'; readonly set: SetName }
  | { readonly do: 'match-not-allowed'; readonly lists: SetName; readonly ranges: SetName }
  | { readonly do: 'set-mark'; readonly mark: number }
  | { readonly do: 'clear-mark'; readonly mark: number }
  | { readonly do: 'masquerade' }
  | { readonly do: 'reset' }
  | { readonly do: 'reject' }
  | { readonly do: 'drop' }
  | { readonly do: 'jump' | 'goto'; readonly chain: string }
  /** Looks up the class of a frontend and goes to the chain of the class. */
  | {
      readonly do: 'classify';
      readonly where: Where;
      readonly map: SetName;
      readonly classes: ClassSet;
    }
  /** Translates to an endpoint drawn at random. */
  | {
      readonly do: 'translate';
      readonly where: Where;
      readonly map: SetName;
      readonly slots: Slots;
    }
  /** Translates to the endpoint that the client had before, if it is still one. */
  | { readonly do: 'return'; readonly use: AffinityUse; readonly seconds: number }
  /** Translates to an endpoint drawn at random, and remembers it for the client. */
  | {
      readonly do: 'choose';
      readonly use: AffinityUse;
      readonly slots: Slots;
      readonly seconds: number;
    }
  /** The same without remembering. */
  | { readonly do: 'choose-once'; readonly use: AffinityUse; readonly slots: Slots };

export interface Rule {
  readonly statements: readonly Statement[];
  readonly comment?: string;
}
