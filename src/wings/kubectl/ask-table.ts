import { printJson, printPage } from '../../commands/terminal/print.ts';
import { askNodes, type NodeAnswer } from './ask-nodes.ts';
import type { Reached } from './nodes-options.ts';
import { exitFor, type NodesTable, nodesData, nodesText } from './nodes-view.ts';

/** A question to every node whose answers stand in one table. */
export interface TableQuestion<T> {
  /** Of `fairlead` on the node; it prints JSON. */
  readonly args: readonly string[];
  readonly input?: string;
  /** Throws an Error where this is no answer. */
  readonly read: (stdout: string) => T;
  readonly table: NodesTable<T>;
  readonly output: 'text' | 'json';
}

/** Asks, prints and sets the exit code; gives the answers for what follows the table. */
export async function askTable<T>(
  { kubectl, agents, timeoutMs }: Reached,
  { args, input, read, table, output }: TableQuestion<T>,
): Promise<readonly NodeAnswer<T>[]> {
  const answers = await askNodes(kubectl, agents, {
    args,
    timeoutMs,
    ...(input === undefined ? {} : { input }),
    read: ({ stdout }) => {
      const said = read(stdout);
      // An answer that has no row, as of another version, is none.
      table.row(said);
      return said;
    },
  });
  if (output === 'json') printJson(nodesData(answers));
  else printPage(nodesText(answers, table));
  process.exitCode = exitFor(answers, table.row);
  return answers;
}
