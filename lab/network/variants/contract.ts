import type { IptablesProgram } from '../../host/iptables-program.ts';
import type { AddressPair } from '../plan.ts';

/** What differs between the networks that clusters have, besides how pods hang on their node. */
export interface NetworkVariant {
  readonly name: string;
  readonly description: string;
  /** A node drops what comes from outside and is for no pod and no Service. */
  readonly dropsTransit?: true;
  /** MTU of the links of pods; that of any Ethernet when not given. */
  readonly podMtu?: number;
  /** Lines for `ip -batch` on the fabric, which is there already; node links come after. */
  fabricLines?(nodes: readonly NodeNamespace[]): string[];
  /** Lines for `ip -batch` on a node: routes to the pods of the others, and links for them. */
  nodeLines(index: number, others: readonly number[]): string[];
  /** Settings of the kernel on a node, `key=value`. */
  readonly nodeSysctls?: readonly string[];
  /** What takes other programs than `ip`, on a node whose links are there. */
  prepareNode?(node: PreparedNode): Promise<void>;
  /** A pod came, after its link; it can be reached by these networks of each family. */
  podPlugged?(pod: PluggedPod): Promise<void>;
  podUnplugged?(pod: PluggedPod): Promise<void>;
}

export interface NodeNamespace {
  readonly index: number;
  /** Full name of its namespace. */
  readonly namespace: string;
}

export interface PreparedNode {
  readonly index: number;
  readonly others: readonly number[];
  /** Path of its network namespace. */
  readonly path: string;
  /** The backend of iptables that this node uses. */
  readonly iptables: IptablesProgram;
}

export interface PluggedPod {
  /** Path of its node's network namespace. */
  readonly nodePath: string;
  /** Unique on the node. */
  readonly linkName: string;
  /** Addresses and networks that are the pod's. */
  readonly networks: readonly AddressPair[];
}
