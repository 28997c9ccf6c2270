import { Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../../commands/command-error.ts';
import { printPage } from '../../commands/terminal/print.ts';
import type { RunningProgram } from '../../linux/running-program.ts';
import { findAgents, type NodeAgent } from './agents.ts';
import { type Kubectl, openKubectl } from './kubectl.ts';

interface NodeViewOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly namespace: string;
  readonly port: number;
  readonly allowProbes?: true;
}

const ADDRESS = /http:\/\/127\.0\.0\.1:(\d+)\/\?token=\S+/;
const FORWARDED = /Forwarding from 127\.0\.0\.1:/;
const DEADLINE_MS = 60_000;
const ANY_PORT = 0;
const MOST_PORT = 65_535;

/** `kubectl fairlead view`: the page of one node, on this machine. */
export function nodeViewCommand(given?: Kubectl): Command {
  return new Command('view')
    .description(
      'show in the browser of this machine what one node does: starts `fairlead view` there, and forwards its port',
    )
    .argument('<node>', 'the name of the node')
    .option(
      '--port <number>',
      'the port, on the node and here; default: one that is free there',
      readPort,
      ANY_PORT,
    )
    .option('--allow-probes', 'let the page send the packets of `fairlead explain --probe`')
    .option('-n, --namespace <name>', 'the namespace of the agents', 'kube-system')
    .option('--context <name>', 'the context of the kubeconfig, as for kubectl')
    .option('--kubeconfig <path>', 'the kubeconfig, as for kubectl')
    .action(async (node: string, options: NodeViewOptions) => {
      const kubectl = given ?? openKubectl(options);
      const [agent] = await findAgents(kubectl, {
        namespace: options.namespace,
        nodes: [node],
        timeoutMs: DEADLINE_MS,
      });
      const stop = new AbortController();
      const end = (): void => stop.abort();
      process.once('SIGINT', end);
      process.once('SIGTERM', end);
      try {
        await serve(kubectl, podOf(node, agent), { ...options, signal: stop.signal });
      } finally {
        process.off('SIGINT', end);
        process.off('SIGTERM', end);
      }
    });
}

type Pod = NonNullable<NodeAgent['pod']>;

function podOf(node: string, agent: NodeAgent | undefined): Pod {
  if (agent?.pod !== undefined) return agent.pod;
  throw new CommandError(`${node} does not answer: ${agent?.why ?? ''}`, {
    code: 'NODE_SILENT',
    next: '`kubectl fairlead status` shows all nodes',
  });
}

/** Until it is interrupted, or one of both programs ends. */
async function serve(
  kubectl: Kubectl,
  { namespace, name, container }: Pod,
  { port, allowProbes, signal }: NodeViewOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const probes = allowProbes ? ['--allow-probes'] : [];
  // The program in the pod outlives the connection: it ends with its standard input.
  const view = ['fairlead', 'view', '--until-input-ends', '--port', String(port), ...probes];
  await using remote = kubectl.start([
    ...['exec', '-i', '-n', namespace, name, '-c', container, '--'],
    ...view,
  ]);
  const [address, its] = await said(remote, { pattern: ADDRESS, what: 'fairlead view' });
  // The server there answers only to its own address, so the port is the same here.
  await using forward = kubectl.start([
    ...['port-forward', '-n', namespace, `pod/${name}`, `${its}:${its}`],
    ...['--address', '127.0.0.1'],
  ]);
  await said(forward, { pattern: FORWARDED, what: 'kubectl port-forward' });
  printPage(address);
  printPage(`of ${name}; ${allowProbes ? 'may send probes, else ' : ''}read-only; Ctrl-C ends it`);
  const interrupted = Promise.withResolvers<undefined>();
  signal.addEventListener('abort', () => interrupted.resolve(undefined), { once: true });
  if (signal.aborted) return;
  const ended = await Promise.race([remote.ended, forward.ended, interrupted.promise]);
  if (ended !== undefined) throw failed('the connection to the node ended', ended.stderr);
}

async function said(
  running: RunningProgram,
  { pattern, what }: { readonly pattern: RegExp; readonly what: string },
): Promise<readonly [whole: string, part: string]> {
  const found = await running.says(pattern, DEADLINE_MS);
  if (found !== undefined) return [found[0], found[1] ?? ''];
  await running.stop();
  throw failed(`${what} did not start`, (await running.ended).stderr);
}

function failed(what: string, stderr: string): CommandError {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const why = lines.find((line) => !line.startsWith('Defaulted container')) ?? 'no reason given';
  return new CommandError(`${what}: ${why.trim()}`, {
    code: 'VIEW_FAILED',
    next: 'start it again, or with another --port if that one is taken on this machine',
  });
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MOST_PORT) return port;
  throw new InvalidArgumentError(`pass a number from 0 to ${MOST_PORT}`);
}
