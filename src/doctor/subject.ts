import type { Conditions } from '../agent/conditions.ts';
import type { StatusPage } from '../agent/status-page.ts';
import type { Difference, NodeFacts } from '../dataplanes/contract.ts';
import type { Family, Forwarding } from '../forwarding/model.ts';
import type { KernelFeature } from '../linux/kernel-features.ts';
import type { NeededSysctl } from '../linux/needed-sysctl.ts';
import type { Sysctls } from '../linux/sysctl.ts';
import type { Places } from './address-places.ts';

/** What the checks are about: this machine, and what its agent wants of it. */
export interface Subject {
  readonly sysctls: Pick<Sysctls, 'read'>;
  readonly agent: AgentState;
  /** Undefined: no agent answers, so it is not known what this node should serve. */
  readonly node: ServedNode | undefined;
  /** What an agent has left in the kernel; read only where none runs. */
  readonly leftInKernel: () => Promise<LeftInKernel>;
  /** Links, and where the endpoints are; read once for all checks. */
  readonly places: () => Promise<Places>;
  /** All modes that this version can run. */
  readonly modes: readonly ModeAbout[];
  /** The mode that is used, or would be by default. */
  readonly usedMode: string;
}

/** What the parts of all modes have in the kernel. */
export interface LeftInKernel {
  /** Such as `2 tables`. */
  readonly objects: readonly string[];
  /** Parts that could not be read, and why. */
  readonly unread: readonly string[];
}

export type AgentState =
  | {
      readonly state: 'answers';
      readonly pid: number;
      readonly conditions: Conditions;
      /** Why another plane than that of the mode forwards. */
      readonly fallback?: StatusPage['fallback'];
    }
  /** No socket. */
  | { readonly state: 'absent' }
  /** A socket that no process listens on. */
  | { readonly state: 'dead' }
  | { readonly state: 'silent'; readonly why: string }
  /** The socket exists, but this user may not use it. */
  | { readonly state: 'forbidden' };

/** What the agent serves. */
export interface ServedNode {
  readonly facts: NodeFacts;
  readonly rows: readonly Forwarding[];
  /** Differences between the kernel and what is desired that stay. */
  readonly differences: () => Promise<readonly Difference[]>;
}

/** What a mode needs of the machine. */
export interface ModeAbout {
  readonly name: string;
  /** Without the prefix CAP_. */
  readonly capabilities: readonly string[];
  /** Programs, one of which it starts; empty: none. */
  readonly programs: readonly string[];
  readonly kernel: readonly KernelFeature[];
  readonly sysctls: readonly NeededSysctl[];
  /** Whether its rules are in chains that kube-proxy has too. */
  readonly usesKubeProxyChains: boolean;
}

/** The families of the Services of this node; without an agent, the one that every node has. */
export function familiesOf({ node }: Pick<Subject, 'node'>): readonly Family[] {
  const families = new Set(node?.rows.map(({ id }) => id.family));
  return families.size === 0 ? ['IPv4'] : [...families].sort();
}
