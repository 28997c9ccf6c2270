import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AgentsWanted, findAgents, type NodeAgent } from './agents.ts';
import { type Kubectl, openKubectl } from './kubectl.ts';

/** What every command over nodes takes. */
export interface NodesOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly namespace: string;
  readonly node?: readonly string[];
  /** Seconds, for each node. */
  readonly timeout: number;
  readonly output: 'text' | 'json';
}

const USUAL_TIMEOUT_SECONDS = 15;
const LONGEST_TIMEOUT_SECONDS = 600;
export const MS_PER_SECOND = 1000;

export function addNodesOptions(command: Command): Command {
  const asking = command
    .addOption(
      new Option('--node <name>', 'ask this node only; repeatable').argParser(
        (name: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), name],
      ),
    )
    .addOption(
      timeoutOption('how long each node may take', {
        usual: USUAL_TIMEOUT_SECONDS,
        longest: LONGEST_TIMEOUT_SECONDS,
      }),
    )
    .option('-n, --namespace <name>', 'the namespace of the agents', 'kube-system');
  return addClusterOptions(asking);
}

/** Which cluster, and in which form the answer is printed. */
export function addClusterOptions(command: Command): Command {
  return command
    .option('--context <name>', 'the context of the kubeconfig, as for kubectl')
    .option('--kubeconfig <path>', 'the kubeconfig, as for kubectl')
    .addOption(
      new Option('-o, --output <form>', 'text for people, json for programs')
        .choices(['text', 'json'])
        .default('text'),
    );
}

/** In seconds. */
export function timeoutOption(
  about: string,
  { usual, longest }: { readonly usual: number; readonly longest: number },
): Option {
  const read = (text: string): number => {
    const seconds = Number(text);
    if (seconds > 0 && seconds <= longest) return seconds;
    throw new InvalidArgumentError(`must be from 1 to ${longest}`);
  };
  return new Option('--timeout <seconds>', about).argParser(read).default(usual);
}

/** The cluster that the options name, and its nodes. */
export interface Reached {
  readonly kubectl: Kubectl;
  readonly agents: readonly NodeAgent[];
  readonly timeoutMs: number;
}

export async function reach(options: NodesOptions, kubectl?: Kubectl): Promise<Reached> {
  const used = kubectl ?? openKubectl(options);
  const timeoutMs = options.timeout * MS_PER_SECOND;
  const wanted: AgentsWanted = {
    namespace: options.namespace,
    timeoutMs,
    ...(options.node === undefined ? {} : { nodes: options.node }),
  };
  return { kubectl: used, agents: await findAgents(used, wanted), timeoutMs };
}
