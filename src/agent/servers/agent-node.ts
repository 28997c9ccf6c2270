import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { NodeView } from '../../forwarding/model.ts';

/** Which node the agent serves, and with what: for commands that answer as it would. */
export interface AgentNode {
  readonly pid: number;
  readonly version: string;
  readonly nodeName: string;
  readonly mode: string;
  /** As `/proc/self/ns/net` names it: whose kernel objects are the agent's. */
  readonly networkNamespace: string;
  /** The fields in force that are no defaults, as a configuration file has them. */
  readonly configuration: string;
  /** `--master`, which no file can say. */
  readonly serverUrl?: string;
  /** Absolute paths; undefined: its objects come from a cluster. */
  readonly manifests?: readonly string[];
  readonly view: NodeView;
  readonly facts: NodeFacts;
  /** What it has not been told completely yet; until then its rows are not all there. */
  readonly missing: readonly string[];
}
