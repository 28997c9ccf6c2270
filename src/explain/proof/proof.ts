import type { LargeTransfer, ProbeAnswer } from '../../linux/probe/answer-kinds.ts';
import type { SeenDrop } from '../dropped-packet.ts';

/**
 * `dry`: a packet that is dropped after all rules. `syn`: one SYN, reset after its answer.
 * `connect`: a whole connection, or for UDP an empty datagram.
 */
export type ProbeKind = 'dry' | 'syn' | 'connect';
/** `watched`: a packet of a client that we did not send. */
export type PacketKind = ProbeKind | 'watched';

/** What one packet met, and what came back. */
export interface ProvenPacket {
  readonly kind: PacketKind;
  /** `address:port` of the probe. */
  readonly source: string;
  readonly outcome: Observed;
  /** What the client saw. */
  readonly answer: ProbeAnswer;
  /** Rules that matched, in order; those of other programs too. */
  readonly steps: readonly ProofStep[];
  /** Data on the connection, with `--size`; undefined: none was sent. */
  readonly large?: LargeTransfer;
  /** Of the endpoint that stayed silent, where it is on this node; undefined: it was not read. */
  readonly acceptQueue?: { readonly length: number; readonly limit: number };
  /** The packet of the connection that the kernel dropped; null: none was seen. */
  readonly drop: SeenDrop | null;
  /** Why dropped packets could not be seen; undefined: they could. */
  readonly dropsUnread?: string;
  /** False: the kernel had no room for some events. */
  readonly isComplete: boolean;
  /** What stays after the probe, in words; empty: nothing. */
  readonly leftBehind: readonly string[];
}

export interface Proof extends ProvenPacket {
  /** Whether the packet did what was predicted. */
  readonly agrees: boolean;
}

/** What a process needs to prove an answer by a packet, where this one lacks some of it. */
export interface ProofNeeds {
  /** Without `CAP_`. */
  readonly capabilities: readonly string[];
  /** It must see the network namespaces of clients, as at /run/netns. */
  readonly clientNamespaces: boolean;
}

/** No packet was sent, because this process lacks a right. */
export interface NotPermitted {
  readonly why: string;
  readonly needs: ProofNeeds;
}

/** A rule, or the policy of a base chain. */
export interface MetRule {
  /** `ip fairlead`. */
  readonly table: string;
  readonly chain: string;
  /** Undefined: the policy of the chain. */
  readonly handle?: number;
  /** Whether it is Fairlead's. */
  readonly ours: boolean;
}

export interface ProofStep extends MetRule {
  /** `prerouting`, `forward` …; empty: not known. */
  readonly hook: string;
  /** Of an eBPF program, an entry of the map that `chain` names; undefined: it is a rule. */
  readonly entry?: string;
  /** In words for rules of Fairlead; as `nft` prints it for the rule that stopped the packet. */
  readonly does?: string;
  readonly verdict: string;
  /** The chain that it goes on in. */
  readonly target?: string;
  /** The packet as it comes to the hook. */
  readonly packet?: { readonly source: string; readonly destination: string };
}

/** What became of the packet. */
export type Observed =
  /** Its destination was translated. `endpoint`, `seenAs`: `address:port`. */
  | {
      readonly is: 'forwarded';
      readonly endpoint: string;
      readonly seenAs: string;
      /**
       * Not by rules alone: an eBPF program translated the socket when it connected, or the packet; or
       * a process of the mode made the connection.
       */
      readonly byProgram?: 'socket' | 'packet' | 'process';
    }
  /**
   * A process of the mode got it, which makes a connection of its own. `reached`: false if it has
   * reached no endpoint; undefined if it was not asked.
   */
  | { readonly is: 'handed over'; readonly reached?: false }
  /** It left, or was delivered, with the destination that it had. */
  | { readonly is: 'passed' }
  | { readonly is: 'dropped'; readonly by: MetRule }
  | { readonly is: 'rejected'; readonly by: MetRule }
  /** No rule dropped it, and it did not come to the end. `after`: the last hook it met. */
  | { readonly is: 'lost'; readonly after: string };
