import type { ProgramAnswer } from '../../../linux/kubectl/ask-program.ts';
import { RunningProgram } from '../../../linux/running-program.ts';
import type { Kubectl } from '../kubectl.ts';

/** What `fairlead` on a node prints; `late`: it does not answer in time. */
export type Planted =
  | { readonly out?: string; readonly err?: string; readonly exit?: number }
  | 'late';

export interface PlantedCluster {
  /** By node; undefined: it has no pod of Fairlead. */
  readonly nodes: Readonly<
    Record<string, Planted | ((verb: string, args: readonly string[]) => Planted) | undefined>
  >;
  /** More items for the answers of `kubectl get pods`, or whole answers for other objects. */
  readonly pods?: readonly object[];
  readonly objects?: Readonly<Record<string, object>>;
  /** Whole answers of other calls, by the first that gives one. */
  readonly answers?: (args: readonly string[], input: string) => ProgramAnswer | undefined;
  /** A script of sh for each verb that runs on: `exec`, `port-forward`. */
  readonly scripts?: Readonly<Record<string, string>>;
}

/** A kubectl that answers as planted, and keeps what it was asked. */
export class PlantedKubectl implements Kubectl {
  readonly asked: { readonly args: readonly string[]; readonly input?: string }[] = [];
  readonly #cluster: PlantedCluster;

  constructor(cluster: PlantedCluster) {
    this.#cluster = cluster;
  }

  async ask(
    args: readonly string[],
    { input }: { readonly timeoutMs: number; readonly input?: string },
  ): Promise<ProgramAnswer> {
    this.asked.push({ args, ...(input === undefined ? {} : { input }) });
    const planted = this.#cluster.answers?.(args, input ?? '');
    if (planted !== undefined) return planted;
    if (args[0] === 'exec') return this.#exec(args);
    if (args[0] !== 'get' || args[1] === '--raw') return printed({});
    const { nodes, pods = [], objects = {} } = this.#cluster;
    const named = objects[args.slice(1, -2).join(' ')];
    if (named !== undefined) return printed(named);
    if (args[1] === 'nodes') {
      return printed({ items: Object.keys(nodes).map((name) => ({ metadata: { name } })) });
    }
    if (args[1] !== 'pods') return failed(`Error from server (NotFound): ${args[1]}`);
    const own = Object.entries(nodes).flatMap(([node, planted]) =>
      planted === undefined ? [] : [agentPod(node)],
    );
    return printed({ items: [...own, ...pods] });
  }

  start(args: readonly string[]): RunningProgram {
    this.asked.push({ args });
    return RunningProgram.start('sh', ['-c', this.#cluster.scripts?.[args[0] ?? ''] ?? 'exit 1']);
  }

  #exec(args: readonly string[]): ProgramAnswer {
    const pod = args.find((arg) => arg.startsWith('fairlead-')) ?? '';
    const found = this.#cluster.nodes[pod.slice('fairlead-'.length)];
    const verb = args[args.indexOf('--') + 2] ?? '';
    const planted = typeof found === 'function' ? found(verb, args) : found;
    if (planted === undefined)
      return failed(`Error from server (NotFound): pods "${pod}" not found`);
    if (planted === 'late') return { ended: false, why: 'late' };
    const { out = '', err = '', exit = 0 } = planted;
    return { ended: true, exitCode: exit, stdout: out, stderr: err };
  }
}

function agentPod(node: string): object {
  return {
    metadata: {
      name: `fairlead-${node}`,
      namespace: 'kube-system',
      labels: { 'app.kubernetes.io/name': 'fairlead' },
    },
    spec: { nodeName: node, containers: [{ name: 'fairlead', image: 'localhost/fairlead:0.1.0' }] },
    status: { phase: 'Running' },
  };
}

export function printed(value: object): ProgramAnswer {
  return { ended: true, exitCode: 0, stdout: JSON.stringify(value), stderr: '' };
}

export function failed(stderr: string): ProgramAnswer {
  return { ended: true, exitCode: 1, stdout: '', stderr };
}
