import type { Forwarding, Frontend } from '../../forwarding/model.ts';

/** Everything there is to show of one service port: data, for a person or for a program. */
export interface Page {
  readonly key: string;
  readonly table: string;
  readonly forwarding: Forwarding;
  readonly frontends: readonly PageFrontend[];
  /** What happens to a new connection, where the rules do not show it. */
  readonly words?: readonly PageWords[];
  /** What a person would type to get the part that is not rules. */
  readonly commands?: { readonly title: string; readonly lines: readonly string[] };
  /** Each chain once, in the order of the hooks. */
  readonly chains: readonly PageChain[];
}

export interface PageWords {
  /** Empty: it belongs to the one before. */
  readonly about: string;
  readonly text: string;
}

export interface PageFrontend {
  readonly frontend: Frontend;
  /** Undefined in a mode that has none. */
  readonly elements?: readonly PageElement[];
  /** Names of chains. */
  readonly path: readonly string[];
}

export interface PageElement {
  readonly kind: 'set' | 'map' | 'ebpf';
  readonly set: string;
  readonly text: string;
  /** Its effect, where no chain shows it. */
  readonly does?: string;
  /** The chain of the class that it names. */
  readonly leadsTo?: string;
}

export interface PageChain {
  readonly name: string;
  readonly hook?: string;
  readonly rules: readonly { readonly text: string; readonly does: string }[];
}
