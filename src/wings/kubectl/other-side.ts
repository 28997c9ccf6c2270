import { type JsonRecord, recordAt, textAt } from '../../cluster/json.ts';
import { printPage } from '../../commands/terminal/print.ts';
import { askNodes } from './ask-nodes.ts';
import { readPage } from './explain-page.ts';
import type { Reached } from './nodes-options.ts';

/** What the other side needs of the first one. */
export interface FirstSide {
  /** Reaches one node by its name. */
  readonly reachNode: (node: string) => Promise<Reached>;
  /** Sends the packet again. */
  readonly askAgain: () => Promise<unknown>;
}

const WATCH_SECONDS = 12;

/**
 * A packet left for an endpoint on another node, and no answer came: that node watches for it while it
 * is sent again, and tells on which side it was lost.
 */
export async function printOtherSide(
  explanation: JsonRecord | undefined,
  { reachNode, askAgain }: FirstSide,
): Promise<void> {
  const beyond = recordAt(explanation ?? {}, 'beyond');
  const [node, target, from] = ['node', 'target', 'from'].map((name) => textAt(beyond, name));
  if (!node || !target || !from) return;
  const { kubectl, agents, timeoutMs } = await reachNode(node);
  const args = ['explain', target, '--from', from, '--watch', `${WATCH_SECONDS}s`];
  const longMs = timeoutMs + WATCH_SECONDS * 1000;
  let isTold = false;
  const watching = askNodes(kubectl, agents, { args, timeoutMs: longMs, read: readPage });
  const told = watching.finally(() => {
    isTold = true;
  });
  while (!isTold) await Promise.race([told, askAgain()]);
  const [answer] = await told;
  const page = answer?.answers ? answer.said.text : `no answer: ${answer?.why ?? 'no agent there'}`;
  printPage(['', `ON ${node}, which has the endpoint`, '', page].join('\n'));
}
