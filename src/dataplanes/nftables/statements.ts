import type { SourceClass } from '../../forwarding/model.ts';
import type { PodDetection } from '../contract.ts';
import type { ListOf } from './groups.ts';
import type { ClassSet, SetName } from './sets.ts';

/** The lookup key of a packet: its destination address, or the node port alone. */
export type Where = 'service' | 'nodeport';

/** How a packet comes to a list: by which key, and to which list of its group. */
export interface Way {
  readonly where: Where;
  readonly listOf: ListOf;
}

/**
 * The statements of a rule. One model with two printers: netlink for the kernel, and text as `nft
 * list` shows it.
 */
export type Statement =
  | { readonly do: 'match-new' }
  | { readonly do: 'match-translated' }
  | { readonly do: 'match-untranslated' }
  | { readonly do: 'match-pod'; readonly by: PodDetection; readonly is: boolean }
  /** `name`: with `*` at the end for anything. */
  | { readonly do: 'match-interface'; readonly name: string }
  | { readonly do: 'match-local'; readonly of: 'saddr' | 'daddr' }
  | { readonly do: 'match-not-loopback' }
  | { readonly do: 'match-range'; readonly cidr: string }
  /** A socket with IP_TRANSPARENT sends it, or has its destination. */
  | { readonly do: 'match-transparent' }
  | { readonly do: 'match-marked'; readonly mark: number }
  | { readonly do: 'match-frontend'; readonly where: Where; readonly set: SetName }
  | { readonly do: 'match-address'; readonly set: SetName }
  | { readonly do: 'match-hairpin'; readonly set: SetName }
  /** Goes on only for frontends that some sources may ask. */
  | { readonly do: 'match-limited' }
  /** Goes on only if the source lies in a range of the list of its frontend, of this length. */
  | { readonly do: 'match-source'; readonly prefixLength: number }
  | { readonly do: 'set-mark'; readonly mark: number }
  | { readonly do: 'clear-mark'; readonly mark: number }
  | { readonly do: 'masquerade' }
  | { readonly do: 'reset' }
  | { readonly do: 'reject' }
  | { readonly do: 'drop' }
  | { readonly do: 'leave' }
  | { readonly do: 'jump' | 'goto'; readonly chain: string }
  /**
   * Looks up the group of a frontend and the class of the group, and goes to the chain of the
   * class. `as`: not of the group itself, but of the entry for its next step.
   */
  | {
      readonly do: 'classify';
      readonly where: Where;
      readonly as?: { readonly treatment: 'short' | 'pick' | 'choose'; readonly listOf: ListOf };
      readonly classes: ClassSet;
    }
  /** Translates to the listener of the forwarder for this source class, if it has one now. */
  | { readonly do: 'hand-over'; readonly from: SourceClass }
  /** Counts connections of protocols that the forwarder takes, and goes on only for those. */
  | { readonly do: 'count-not-handed-over' }
  /** Translates to an endpoint drawn at random. */
  | { readonly do: 'translate'; readonly way: Way; readonly slotCount: number }
  /** Translates to the endpoint that the client had before, if it still exists. */
  | { readonly do: 'return'; readonly way: Way; readonly seconds: number }
  /** Continues only while the list is below its affinity quota. */
  | { readonly do: 'match-room'; readonly way: Way; readonly seconds: number }
  /** Stores a randomly drawn endpoint for the client, and leaves the chain. */
  | { readonly do: 'choose'; readonly way: Way; readonly slotCount: number };

export interface Rule {
  readonly statements: readonly Statement[];
  readonly comment?: string;
}
