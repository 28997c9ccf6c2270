import type { ProtocolName, SourceClassName } from './common.ts';
import type { Trouble } from './node.ts';
import type { EndpointAnswer, FrontendAnswer } from './service.ts';

/** What `fairlead explain -o json` prints. */
export interface PathAnswer {
  /** One of the codes in docs/explain.md. */
  readonly code: string;
  readonly reaches: boolean;
  readonly sentence: string;
  readonly node: string;
  readonly mode: string;
  readonly question: {
    readonly target: string;
    /** `namespace/name:port`; absent: no Service has the address. */
    readonly service?: string;
    readonly kind?: FrontendAnswer['kind'];
    /** `address:port`; empty: a node port, at no address in particular. */
    readonly frontend: string;
    readonly protocol: ProtocolName;
    readonly from: {
      readonly class: SourceClassName;
      readonly because: string;
      readonly address?: string;
      /** `namespace/name`. */
      readonly pod?: string;
      readonly otherNode?: string;
    };
  };
  readonly predicted: {
    readonly code: string;
    readonly action: string;
    readonly list?: 'cluster' | 'local';
    readonly masquerade?: boolean;
    readonly endpoints?: readonly string[];
    readonly affinitySeconds?: number;
  };
  /** Null: no packet was sent. */
  readonly proof: PathProof | null;
  /** Why no packet was sent, or its path could not be read. */
  readonly notProven?: string;
  readonly candidates: readonly PathCandidate[];
  readonly elsewhere: readonly {
    readonly where: string;
    readonly code: string;
    readonly more: string;
  }[];
  readonly agent: {
    readonly pid: number;
    readonly row?: { readonly is: 'applied' | 'waiting' | 'rejected' };
    readonly detached: readonly string[];
    readonly troubles: readonly Trouble[];
  } | null;
  readonly remarks: readonly { readonly topic: string; readonly text: string }[];
  /** What to do. */
  readonly next: readonly string[];
}

export interface PathProof {
  readonly kind: 'dry' | 'syn' | 'connect' | 'watched';
  /** `address:port` of the probe. */
  readonly source: string;
  readonly outcome: PathOutcome;
  readonly answer:
    | { readonly is: 'accepted' | 'refused' | 'answered'; readonly afterMs: number }
    | { readonly is: 'unreachable'; readonly code: string; readonly afterMs: number }
    | { readonly is: 'silent' };
  /** Rules that matched, in order; those of other programs too. */
  readonly steps: readonly PathStep[];
  /** The packet of the connection that the kernel dropped; null: none was seen. */
  readonly drop: {
    /** The kernel's name for the reason. */
    readonly reason?: string | undefined;
    /** The kernel function that dropped it. */
    readonly function?: string | undefined;
    readonly device: string;
    /** Whether it happened in the network namespace of the agent. */
    readonly isHere: boolean;
    readonly cause: {
      readonly code: string;
      readonly sentence: string;
      readonly next: readonly string[];
    };
  } | null;
  readonly dropsUnread?: string;
  /** False: the kernel had no room for some events. */
  readonly isComplete: boolean;
  /** What stays after the probe, in words; empty: nothing. */
  readonly leftBehind: readonly string[];
  /** Whether the packet did what was predicted. */
  readonly agrees: boolean;
}

export interface PathRule {
  /** `ip fairlead`. */
  readonly table: string;
  readonly chain: string;
  /** Absent: the policy of the chain. */
  readonly handle?: number;
  /** Whether it is Fairlead's. */
  readonly ours: boolean;
}

export interface PathStep extends PathRule {
  /** `prerouting`, `forward` …; empty: not known. */
  readonly hook: string;
  /** Of an eBPF program, an entry of the map that `chain` names; absent: it is a rule. */
  readonly entry?: string;
  /** In words, for rules of Fairlead. */
  readonly does?: string;
  readonly verdict: string;
  /** The chain that it goes on in. */
  readonly target?: string;
  /** The packet as it comes to the hook. */
  readonly packet?: { readonly source: string; readonly destination: string };
}

export type PathOutcome =
  | {
      readonly is: 'forwarded';
      readonly endpoint: string;
      readonly seenAs: string;
      /** A program translated it: the socket when it connected, or the packet. */
      readonly byProgram?: 'socket' | 'packet' | 'process';
    }
  | { readonly is: 'handed over'; readonly reached?: false }
  | { readonly is: 'passed' }
  | { readonly is: 'dropped' | 'rejected'; readonly by: PathRule }
  /** No rule dropped it, and it did not come to the end. `after`: the last hook it met. */
  | { readonly is: 'lost'; readonly after: string };

export interface PathCandidate {
  readonly endpoint: string;
  readonly nodeName: string;
  readonly local: boolean;
  readonly state: EndpointAnswer['state'];
  readonly selected: boolean;
  /** It gets one of so many new connections. */
  readonly oneOf?: number;
  readonly chosenIf?: string;
  /** Why it gets none. */
  readonly because?: string;
  readonly hairpin?: true;
  readonly keepsSource?: true;
  readonly nodeSource?: true;
}
