import type { Desired, NodeFacts } from '../../dataplanes/contract.ts';
import type { Family, Forwarding, Frontend, SourceClass } from '../../forwarding/model.ts';
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
  account(met: {
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
  connectedTo?(connection: {
    readonly runFolder: string;
    readonly client: { readonly address: string; readonly port: number };
    readonly signal: AbortSignal;
  }): Promise<ProcessConnection | undefined>;
  /** Our rules may be in tables that are not traced. */
  readonly mayBeBlind?: true;
  /** Programs that translate before the rules do. Undefined: there are none. */
  readonly front?: FrontProof;
  /** What a probe that was forwarded leaves in the kernel, in words. Undefined: nothing. */
  readonly leftBehind?: string;
}

/** What a program in front of the rules did, by an entry of its maps. */
export interface FrontEntry {
  readonly map: string;
  readonly text: string;
  readonly does: string;
}

/** A connection that a program in front of the rules meets. */
export interface FrontCase {
  readonly facts: NodeFacts;
  readonly row: Forwarding;
  readonly frontend: Frontend;
  readonly source: SourceClass;
  /** `address:port` that the program sent it to; undefined: it left it to the rules. */
  readonly endpoint: string | undefined;
}

/** How eBPF programs in front of the rules tell what they did with a probe. */
export interface FrontProof {
  /** Where packets meet a program, as a hook; undefined: nowhere. */
  readonly packetHook?: string;
  /** Whether sockets of such a client are translated when they connect: its probe has to be one. */
  meetsSockets(source: SourceClass, facts: NodeFacts): boolean;
  /** Where the hook sent a socket of this process; undefined: it did not translate it. */
  connectedTo(fd: number, pinFolder: string): string | undefined;
  /** Whether a packet that met this rule or chain was not translated by a program before. */
  isUntranslated(rule: TracedRule): boolean;
  /** In the words of `render`. */
  account(front: FrontCase): readonly FrontEntry[];
}
