import { Command } from 'commander';
import { type JsonRecord, textAt } from '../../cluster/json.ts';
import { askTable } from './ask-table.ts';
import type { Kubectl } from './kubectl.ts';
import { addNodesOptions, type NodesOptions, reach } from './nodes-options.ts';
import type { NodesTable } from './nodes-view.ts';
import { listSaid } from './said.ts';

/** The differences that `fairlead diff -o json` lists. */
const TABLE: NodesTable<readonly JsonRecord[]> = {
  heads: ['DIFFERENCES', 'FIRST'],
  well: 'as desired',
  row: (differences) => {
    const [first] = differences;
    return {
      isWell: first === undefined,
      cells: [String(differences.length), first === undefined ? '-' : differenceText(first)],
    };
  },
};

/** `missing ip fairlead map services { … } (shop/web:http)`. */
function differenceText(difference: JsonRecord): string {
  const [kind, object, service] = ['kind', 'object', 'service'].map((each) =>
    textAt(difference, each),
  );
  return `${kind} ${object}${service === '' ? '' : ` (${service})`}`;
}

/** `kubectl fairlead diff`: whether the kernel of each node has what is desired. */
export function nodesDiffCommand(given?: Kubectl): Command {
  const command = new Command('diff').description(
    'compare the kernel of every node with the desired state; exit code 3 if one differs, 1 if one does not answer',
  );
  return addNodesOptions(command).action(async (options: NodesOptions) => {
    const { output } = options;
    const asked = { args: ['diff', '-o', 'json'], read: listSaid, table: TABLE, output };
    await askTable(await reach(options, given), asked);
  });
}
