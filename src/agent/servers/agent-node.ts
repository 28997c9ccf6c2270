import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { NodeView } from '../../forwarding/model.ts';

/**
 * The node that the agent serves, and its configuration, for commands that compute the same rows.
 */
export interface AgentNode {
  readonly pid: number;
  readonly version: string;
  readonly nodeName: string;
  readonly mode: string;
  /** As `/proc/self/ns/net` names it: the namespace of the agent's kernel objects. */
  readonly networkNamespace: string;
  /** The fields that differ from their defaults, as in a configuration file. */
  readonly configuration: string;
  /** `--master`, which has no field in the file. */
  readonly serverUrl?: string;
  /** Absolute paths; undefined: its objects come from a cluster. */
  readonly manifests?: readonly string[];
  readonly view: NodeView;
  readonly facts: NodeFacts;
  /** Kinds whose initial list is not complete; until then rows are missing. */
  readonly missing: readonly string[];
}
