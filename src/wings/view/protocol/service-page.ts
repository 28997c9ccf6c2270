import type { Change } from './changes-answer.ts';
import type { FamilyName, ProtocolName, SourceClassName } from './common.ts';

export interface ServiceAnswer {
  /** `namespace/name`. */
  readonly service: string;
  readonly ports: readonly ServicePortAnswer[];
  /** Its newest changes and those of the whole node, newest first, at most 50. */
  readonly changes: readonly Change[];
}

export interface ServicePortAnswer {
  /** `namespace/name:port`. */
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly family: FamilyName;
  readonly affinitySeconds: number;
  readonly frontends: readonly FrontendAnswer[];
  readonly kernel?: KernelState;
  readonly newPerSecond?: number;
  readonly live?: number;
  readonly rejectedPerSecond?: number;
  readonly droppedPerSecond?: number;
  /** At most 300: those without connections because of a reason first, then the busiest. */
  readonly endpoints: readonly EndpointAnswer[];
  readonly endpointCount: number;
  /** Of all endpoints, also those that are left out. */
  readonly selectedCount: number;
}

export interface FrontendAnswer {
  readonly kind: 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';
  /** `10.96.0.1:80`, `[fd00::1]:80` or `node port 30080`. */
  readonly at: string;
  /** What `/data/path` takes as its target; absent for a node port. */
  readonly target?: string;
  readonly port: number;
  /** Absent: all sources are allowed. */
  readonly allowedSources?: readonly string[];
  /** Why it is not served, in words; absent: it is. */
  readonly notServed?: string;
  readonly outcomes: Readonly<Record<SourceClassName, OutcomeAnswer>>;
}

export interface OutcomeAnswer {
  readonly action: 'forward' | 'reject' | 'drop';
  /** Of a forwarded one. */
  readonly list?: 'cluster' | 'local';
  readonly masquerade?: boolean;
}

export interface EndpointAnswer {
  /** `address:port`. */
  readonly endpoint: string;
  /** Empty: not known. */
  readonly nodeName: string;
  readonly isHere: boolean;
  readonly state: 'ready' | 'terminating' | 'not ready' | 'gone';
  /** In the list for the whole cluster, and in that for traffic policy Local. */
  readonly selected: { readonly cluster: boolean; readonly local: boolean };
  /** Why it gets no connections, in words; absent: it is selected. */
  readonly because?: string;
  /** Its counter: connections since it was written to the kernel. */
  readonly connections?: number;
  readonly newPerSecond?: number;
  /** Its part of the connections of its port in the last seconds, from 0 to 1. */
  readonly share?: number;
  readonly live?: number;
}

export interface KernelState {
  readonly is: 'applied' | 'waiting' | 'rejected';
  readonly forMs?: number;
  /** Of a rejected one, in words. */
  readonly error?: string;
}
