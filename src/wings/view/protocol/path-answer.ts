import type { Proof } from '../../../explain/proof/proof.ts';
import type { ProtocolName, SourceClassName } from './common.ts';
import type { Trouble } from './node-hello.ts';
import type { EndpointAnswer, FrontendAnswer } from './service-page.ts';

/** What `fairlead explain -o json` prints. */
export interface PathAnswer {
  /** One of the codes in docs/explain.md. */
  readonly code: string;
  /** An endpoint has answered. */
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
  readonly proof: Proof | null;
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
