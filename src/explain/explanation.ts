import type { RowState } from '../agent/row-state.ts';
import type { EndpointShare } from '../forwarding/answer/endpoint-shares.ts';
import type { PredictedAction, PredictedCode } from '../forwarding/answer/prediction.ts';
import type { EndpointList, FrontendKind, Protocol, SourceClass } from '../forwarding/model.ts';
import type { Certainty, Code } from './codes.ts';
import type { Proof, ProofNeeds } from './proof/proof.ts';
import type { ZeroCause } from './zero/zero-cause.ts';

/** What happens to a new connection, and why: the same for text, JSON and every mode. */
export interface Explanation {
  readonly code: Code;
  /** An endpoint has answered. */
  readonly reaches: boolean;
  readonly certainty: Certainty;
  /** One sentence for people. */
  readonly sentence: string;
  readonly node: string;
  readonly mode: string;
  readonly question: AskedQuestion;
  /** Every address that the name stands for, worst first; undefined: one was asked. */
  readonly addresses?: readonly AskedAddress[];
  readonly predicted: PredictedData;
  /** The path of a packet; null: none was sent. */
  readonly proof: Proof | null;
  /** Why no packet was sent, or its path could not be read; undefined: `proof` is there. */
  readonly notProven?: string;
  /** What a process needs that could prove it; undefined: more rights would not help. */
  readonly proofNeeds?: ProofNeeds;
  readonly candidates: readonly EndpointShare[];
  /** Endpoints that got a packet of their own; undefined: none did. */
  readonly each?: readonly EachEndpoint[];
  /** The same from other sources, and at other addresses of the Service. */
  readonly elsewhere: readonly Elsewhere[];
  /** Null: no agent was asked. */
  readonly agent: AgentWord | null;
  readonly remarks: readonly Remark[];
  /** The node that could see more, and what to ask it; undefined: this one sees all. */
  readonly beyond?: Beyond;
  /** What to do. */
  readonly next: readonly string[];
  /** Why no endpoint serves; undefined: one does, or another line says why. */
  readonly cause?: ZeroCause;
}

/** A packet left this machine for another node, and what happened there this machine cannot see. */
export interface Beyond {
  readonly node: string;
  /** What that node is to be asked about: the endpoint, `address:port`. */
  readonly target: string;
  /** The client as that node sees it. */
  readonly from: string;
}

export interface AskedQuestion {
  /** As it was given. */
  readonly target: string;
  /** `namespace/name:port`; undefined: no Service has the address. */
  readonly service?: string;
  readonly kind?: FrontendKind;
  /** `address:port`; empty: a node port, at no address in particular. */
  readonly frontend: string;
  readonly protocol: Protocol;
  readonly from: AskedSource;
}

/** A packet straight to one endpoint, from the same client. */
export interface EachEndpoint {
  /** `address:port`. */
  readonly endpoint: string;
  readonly nodeName: string;
  /** Undefined: there was no time to ask it. */
  readonly code?: Code;
  readonly sentence?: string;
  /** An upper bound; undefined: nothing came back. */
  readonly answeredWithinMs?: number;
  readonly next: readonly string[];
}

/** One of the addresses that a name stands for, and what happens there. */
export interface AskedAddress {
  /** `namespace/name:port`. */
  readonly service: string;
  /** `address:port`. */
  readonly at: string;
  readonly code: Code;
  readonly certainty: Certainty;
  readonly sentence: string;
}

export interface AskedSource {
  readonly class: SourceClass;
  readonly because: string;
  readonly address?: string;
  /** `namespace/name`. */
  readonly pod?: string;
  /** The node of the pod, where it is another one. */
  readonly otherNode?: string;
}

export interface PredictedData {
  readonly code: PredictedCode;
  readonly action: PredictedAction;
  readonly list?: EndpointList;
  readonly masquerade?: boolean;
  readonly endpoints?: readonly string[];
  readonly affinitySeconds?: number;
}

export interface Elsewhere {
  /** `from this node`, `at 198.18.0.1:80`. */
  readonly where: string;
  readonly code: Code;
  /** `one of 2 endpoints, masqueraded`; empty: the code says it all. */
  readonly more: string;
}

/** What the running agent says. */
export interface AgentWord {
  readonly pid: number;
  /** Of the row that was asked for; undefined: there is none, or an older agent does not say. */
  readonly row?: RowState;
  /** What leads packets to the rows and is missing, in words. */
  readonly detached: readonly string[];
  /** The process that has changed Fairlead's objects of late, in words; undefined: none has. */
  readonly disturber?: string;
  /** Whatever else is wrong, in the words of `fairlead status`. */
  readonly troubles: readonly { readonly what: string; readonly next: string }[];
}

export interface Remark {
  /** One word or two, the head of the line. */
  readonly topic: string;
  readonly text: string;
}
