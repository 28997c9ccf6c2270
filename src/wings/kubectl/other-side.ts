import { type JsonRecord, recordAt, textAt } from '../../cluster/json.ts';
import { printPage } from '../../commands/terminal/print.ts';
import { askNodes } from './ask-nodes.ts';
import { readPage } from './explain-page.ts';
import type { Reached } from './nodes-options.ts';

/** Reaches one node by its name. */
export type ReachNode = (node: string) => Promise<Reached>;

/**
 * A packet left for an endpoint on another node, and no answer came: what that node says of the same
 * endpoint tells on which side it was lost. Undefined: the first node saw all.
 */
export async function printOtherSide(
  explanation: JsonRecord | undefined,
  reachNode: ReachNode,
): Promise<void> {
  const beyond = recordAt(explanation ?? {}, 'beyond');
  const [node, target] = [textAt(beyond, 'node'), textAt(beyond, 'target')];
  if (node === '' || target === '') return;
  const { kubectl, agents, timeoutMs } = await reachNode(node);
  const args = ['explain', target, '--from', 'host'];
  const [answer] = await askNodes(kubectl, agents, { args, timeoutMs, read: readPage });
  const page = answer?.answers ? answer.said.text : `no answer: ${answer?.why ?? 'no agent there'}`;
  printPage(['', `ON ${node}, which has the endpoint`, '', page].join('\n'));
}
