import { arrayAt, booleanAt, type JsonRecord, recordAt } from '../../cluster/json.ts';
import { wrapped } from '../../commands/terminal/fit.ts';
import { printJson, printPage } from '../../commands/terminal/print.ts';
import { visible } from '../../commands/terminal/visible.ts';
import { EXIT } from '../../explain/codes.ts';
import type { ProofNeeds } from '../../explain/proof/proof.ts';
import type { NodeAgent } from './agents.ts';
import { askNodes, type NodeAnswer } from './ask-nodes.ts';
import {
  isNoDebugPod,
  type NoDebugPod,
  type Through,
  throughData,
  throughDebugPod,
} from './debug-pod/through-pod.ts';
import { printPageOf, readPage } from './explain-page.ts';
import { interruptible } from './interruptible.ts';
import type { Reached } from './nodes-options.ts';
import { nodesData, widthNow } from './nodes-view.ts';
import { type FirstSide, printOtherSide } from './other-side.ts';
import { recordSaid } from './said.ts';

interface Asked {
  readonly args: readonly string[];
  readonly input?: string;
}

/** An explanation as JSON, with its exit code. */
interface Said {
  readonly explanation: JsonRecord;
  readonly exitCode: number;
}

const OPTED_OUT: NoDebugPod = {
  code: 'DEBUG_POD_OPTED_OUT',
  why: 'the agent lacks the rights to send it, and --no-debug-pod was given',
  next: 'leave --no-debug-pod out, or prove it as root on the node: fairlead explain',
};

/** Explains from one pod: proven by its agent where that has the rights, else through a debug pod. */
export async function explainProven(
  reached: Pick<Reached, 'kubectl' | 'timeoutMs'>,
  run: {
    readonly asked: Asked;
    readonly agent: NodeAgent;
    readonly debugPod: boolean;
    readonly output: 'text' | 'json';
    readonly reachNode: FirstSide['reachNode'];
  },
): Promise<void> {
  const { kubectl, timeoutMs } = reached;
  const { agent, output, reachNode } = run;
  const asked = { ...run.asked, timeoutMs };
  const json = { ...asked, args: [...asked.args, '-o', 'json'], read: readSaid };
  const first = await askNodes(kubectl, [agent], json);
  const needs = needsIn(first);
  const pageOfAgent = () => askNodes(kubectl, [agent], { ...asked, read: readPage });
  if (needs === undefined || agent.pod === undefined) {
    if (output === 'json') return printSaid(first);
    printPageOf(await pageOfAgent());
    const askAgain = () => askNodes(kubectl, [agent], json);
    return await printOtherSide(explanationIn(first[0]), { reachNode, askAgain });
  }
  const made = { node: agent.node, pod: agent.pod };
  const inDebugPod = async <T>(
    ask: (agents: readonly NodeAgent[]) => Promise<T | NoDebugPod>,
  ): Promise<Through<T>> =>
    run.debugPod
      ? await interruptible((signal) =>
          throughDebugPod(kubectl, {
            agent: made,
            needs,
            timeoutMs,
            signal,
            ask: async (pod) => await ask([{ node: agent.node, pod }]),
          }),
        )
      : { result: OPTED_OUT };
  if (output === 'json') {
    const proven = await inDebugPod(async (pods) => answered(await askNodes(kubectl, pods, json)));
    printSaid(isNoDebugPod(proven.result) ? first : [proven.result], throughData(proven));
    return;
  }
  const proven = await inDebugPod(async (pods) => {
    const page = answered(await askNodes(kubectl, pods, { ...asked, read: readPage }));
    if (isNoDebugPod(page)) return page;
    // Only the data say whether another node is to be asked, and the packet is sent again from here.
    const isLost = page.answers && page.said.exitCode === EXIT.differs;
    const askAgain = () => askNodes(kubectl, pods, json);
    printPageOf([page]);
    if (isLost) {
      await printOtherSide(explanationIn((await askAgain())[0]), { reachNode, askAgain });
    }
    return page;
  });
  if (isNoDebugPod(proven.result)) {
    return printPageOf(await pageOfAgent(), unprovenLines(proven.result));
  }
  printPage(provenLines(proven).join('\n'));
}

function explanationIn(answer: NodeAnswer<Said> | undefined): JsonRecord | undefined {
  return answer?.answers ? answer.said.explanation : undefined;
}

function readSaid({
  stdout,
  exitCode,
}: {
  readonly stdout: string;
  readonly exitCode: number;
}): Said {
  return { explanation: recordSaid(stdout), exitCode };
}

/** What a process needs that could prove it; undefined: it is proven, or rights would not help. */
function needsIn([answer]: readonly NodeAnswer<Said>[]): ProofNeeds | undefined {
  if (!answer?.answers) return undefined;
  const needs = recordAt(answer.said.explanation, 'proofNeeds');
  const capabilities = arrayAt(needs, 'capabilities').filter((each) => typeof each === 'string');
  if (capabilities.length === 0) return undefined;
  return { capabilities, clientNamespaces: booleanAt(needs, 'clientNamespaces') === true };
}

function answered<T>([answer]: readonly NodeAnswer<T>[]): NodeAnswer<T> | NoDebugPod {
  if (answer?.answers) return answer;
  return {
    code: 'DEBUG_POD_SILENT',
    why: `the pod ran and gave no answer: ${answer?.why ?? ''}`,
    next: 'try it again, with a longer --timeout',
  };
}

function printSaid(answers: readonly NodeAnswer<Said>[], debugPod?: JsonRecord): void {
  const plain = answers.map((each) =>
    each.answers ? { ...each, said: each.said.explanation } : each,
  );
  printJson(
    nodesData(plain).map((each) => (debugPod === undefined ? each : { ...each, debugPod })),
  );
  const [answer] = answers;
  process.exitCode = answer?.answers ? answer.said.exitCode : 1;
}

function provenLines(through: Through<unknown>): readonly string[] {
  if (through.pod === undefined) return [];
  const fate = through.isDeleted ? 'is deleted' : 'could not be deleted';
  return [`by pod ${through.pod}, which ${fate}`];
}

function unprovenLines({ why, next }: NoDebugPod): readonly string[] {
  const lines = [`predicted, and not proven by a packet: ${why}`, `next: ${next}`];
  return ['', ...lines.flatMap((line) => wrapped(visible(line), widthNow()))];
}
