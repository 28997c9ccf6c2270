import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import {
  arrayAt,
  booleanAt,
  isRecord,
  type JsonRecord,
  recordAt,
  textAt,
} from '../../cluster/json.ts';
import { STANDARD_INPUT } from '../../cluster/manifests/manifest-files.ts';
import { CommandError, WRONG_USAGE_EXIT } from '../../commands/command-error.ts';
import { visible } from '../../commands/terminal/visible.ts';
import { isDnsLabel } from '../../labels/api-names.ts';
import { askNodes } from './ask-nodes.ts';
import { askTable } from './ask-table.ts';
import { printPageOf, readPage } from './explain-page.ts';
import { explainProven } from './explain-proven.ts';
import { getJson, type Kubectl, openKubectl } from './kubectl.ts';
import { addNodesOptions, type NodesOptions, reach } from './nodes-options.ts';
import type { NodesTable } from './nodes-view.ts';
import { recordSaid, saidCount } from './said.ts';

interface NodesExplainOptions extends NodesOptions {
  readonly from?: string;
  readonly whyNot?: string;
  readonly with?: readonly string[];
  /** False: `--no-debug-pod`. */
  readonly debugPod: boolean;
}

/** The whole explanation of `fairlead explain -o json`. */
const TABLE: NodesTable<JsonRecord> = {
  heads: ['CODE', 'SAYS'],
  well: 'would reach it',
  row: (explanation) => ({
    // A packet is sent from one client's node only: the other nodes predict.
    isWell: ['REACHES', 'WOULD_REACH'].includes(textAt(explanation, 'code')),
    cells: [
      textAt(explanation, 'code'),
      `${textAt(explanation, 'sentence')}${openText(explanation)}`,
    ],
  }),
};

/** With `--with`, what the change means for connections that are open. */
function openText(explanation: JsonRecord): string {
  const total = recordAt(recordAt(recordAt(explanation, 'with'), 'open'), 'total');
  if (total['lose'] === undefined) return '';
  const [stay, drain, lose] = ['stay', 'drain', 'lose'].map((name) => saidCount(total, name));
  const all = (stay ?? 0) + (drain ?? 0) + (lose ?? 0);
  if (all === 0) return '; no open connections here';
  return `; of ${all} open connections here ${lose} lose their endpoint`;
}

/** `kubectl fairlead explain`: what each node does with a new connection. */
export function nodesExplainCommand(given?: Kubectl): Command {
  const command = new Command('explain')
    .description(
      'say what every node does with a new connection, or one node in detail; exit code 3 if it does not reach an endpoint on one, 1 if one does not answer',
    )
    .argument('<target>', 'namespace/name[:port], or ADDRESS:PORT; with /udp or /sctp for these')
    .option(
      '--from <client>',
      'pod:NAMESPACE/NAME (asks the node of the pod), pod:ADDRESS, host, or an IP address; pod or outside for any such client',
    )
    .option(
      '--why-not <pod>',
      'why this pod (NAMESPACE/NAME) or endpoint address gets no connection',
    )
    .addOption(
      new Option(
        '--with <path>',
        'explain with these manifests applied, and count the open connections that would lose their endpoint; writes nothing; repeatable',
      ).argParser((path: string, earlier: readonly string[] | undefined) => [
        ...(earlier ?? []),
        path,
      ]),
    )
    .option(
      '--no-debug-pod',
      'with --from pod:NAMESPACE/NAME, never start a pod on its node to send a packet, where the agent lacks the rights',
    );
  return addNodesOptions(command).action(async (target: string, options: NodesExplainOptions) => {
    const asked = await questionOf(given ?? openKubectl(options), target, options);
    const reached = await reach({ ...options, ...asked.at }, given);
    const { kubectl, agents, timeoutMs } = reached;
    const { output } = options;
    const [only] = agents;
    if (only !== undefined && agents.length === 1 && only.node === asked.clientNode) {
      const reachNode = async (node: string) => await reach({ ...options, node: [node] }, given);
      await explainProven(reached, { asked, agent: only, ...options, reachNode });
      return;
    }
    // One node explains itself in full, in its own words.
    if (agents.length === 1 && output === 'text') {
      printPageOf(await askNodes(kubectl, agents, { ...asked, timeoutMs, read: readPage }));
      return;
    }
    const args = [...asked.args, '-o', 'json'];
    await askTable(reached, { ...asked, args, read: recordSaid, table: TABLE, output });
  });
}

interface Question {
  /** Of `fairlead` on the node. */
  readonly args: readonly string[];
  readonly input?: string;
  /** Where only one node can answer. */
  readonly at: { readonly node?: readonly string[] };
  /** The node of the pod that is the client; undefined: no pod was named. */
  readonly clientNode?: string;
}

/** Pods become addresses, which the agent needs no right to read; files go in by standard input. */
async function questionOf(
  kubectl: Kubectl,
  target: string,
  options: NodesExplainOptions,
): Promise<Question> {
  const timeoutMs = options.timeout * 1000;
  const from = await clientOf(kubectl, target, { text: options.from, timeoutMs });
  const asked = options.whyNot;
  const whyNot = asked?.includes('/')
    ? addressFor(await readPod(kubectl, asked, timeoutMs), target)
    : asked;
  const files = options.with ?? [];
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  return {
    args: [
      'explain',
      target,
      ...(from.text === undefined ? [] : ['--from', from.text]),
      ...(whyNot === undefined ? [] : ['--why-not', whyNot]),
      ...(files.length === 0 ? [] : ['--with', STANDARD_INPUT]),
    ],
    ...(files.length === 0 ? {} : { input: texts.join('\n---\n') }),
    // A node that was named is asked, whichever node the pod is on.
    at: options.node !== undefined || from.node === undefined ? {} : { node: [from.node] },
    ...(from.node === undefined ? {} : { clientNode: from.node }),
  };
}

/** A pod of the node that is asked by its address; any other text as it is. */
async function clientOf(
  kubectl: Kubectl,
  target: string,
  { text, timeoutMs }: { readonly text: string | undefined; readonly timeoutMs: number },
): Promise<{ readonly text?: string; readonly node?: string }> {
  const [, name] = /^pod:([^/]+\/[^/]+)$/.exec(text ?? '') ?? [];
  if (name === undefined) return text === undefined ? {} : { text };
  const pod = await readPod(kubectl, name, timeoutMs);
  const client = pod.isHostNetwork ? 'host' : `pod:${addressFor(pod, target)}`;
  return { text: client, node: pod.node };
}

/** A pod, read with the person's own rights: the agent's account cannot read pods. */
interface NamedPod {
  readonly node: string;
  readonly addresses: readonly string[];
  readonly isHostNetwork: boolean;
}

const POD_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Throws where kubectl could take a part of it for something else than a name, such as an option. */
function assertName(name: string, [namespace = '', pod = '']: readonly string[]): void {
  if (isDnsLabel(namespace) && POD_NAME.test(pod)) return;
  throw new CommandError(`'${visible(name)}' is no name of a pod`, {
    code: 'USAGE',
    next: 'use NAMESPACE/NAME, in lower case, as `kubectl get pods -A` prints them',
    exitCode: WRONG_USAGE_EXIT,
  });
}

/** `name`: `namespace/name`. */
async function readPod(kubectl: Kubectl, name: string, timeoutMs: number): Promise<NamedPod> {
  const [namespace = '', pod = ''] = name.split('/');
  assertName(name, [namespace, pod]);
  const raw = await getJson(kubectl, ['get', 'pod', '-n', namespace, pod], { timeoutMs });
  const spec = recordAt(raw, 'spec');
  const addresses = arrayAt(recordAt(raw, 'status'), 'podIPs')
    .filter(isRecord)
    .map((each) => textAt(each, 'ip'));
  const node = textAt(spec, 'nodeName');
  if (node !== '' && addresses.length > 0) {
    return { node, addresses, isHostNetwork: booleanAt(spec, 'hostNetwork') === true };
  }
  throw new CommandError(`pod ${name} has no address yet`, {
    code: 'POD_NOT_STARTED',
    next: `kubectl -n ${namespace} describe pod ${pod}`,
  });
}

/** Its address of the family that the target has; the first where a Service is named. */
function addressFor({ addresses }: NamedPod, target: string): string {
  const wantsIpv6 = target.startsWith('[');
  const isService = target.includes('/') && !/^[[\d]/.test(target);
  const fits = addresses.find((address) => address.includes(':') === wantsIpv6);
  return (isService ? addresses[0] : fits) ?? addresses[0] ?? '';
}
