import { Command } from 'commander';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../cluster/json.ts';
import { askTable } from './ask-table.ts';
import type { Kubectl } from './kubectl.ts';
import { addNodesOptions, type NodesOptions, reach } from './nodes-options.ts';
import type { NodesTable } from './nodes-view.ts';
import { recordSaid, saidBoolean, saidCount } from './said.ts';

/** The whole page of `fairlead status -o json`. */
const TABLE: NodesTable<JsonRecord> = {
  heads: ['STATE', 'MODE', 'IN KERNEL', 'TROUBLE'],
  well: 'ready',
  row: (page) => {
    const isReady = saidBoolean(page, 'isReady');
    const rows = recordAt(page, 'rows');
    const [first, ...others] = arrayAt(page, 'troubles').filter(isRecord);
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return {
      isWell: isReady,
      cells: [
        isReady ? 'ready' : 'not ready',
        textAt(page, 'mode'),
        `${saidCount(rows, 'applied')} of ${saidCount(rows, 'desired')}`,
        first === undefined ? '-' : `${textAt(first, 'what')}${more}`,
      ],
    };
  },
};

/** `kubectl fairlead status`: the agents of all nodes in one table. */
export function nodesStatusCommand(given?: Kubectl): Command {
  const command = new Command('status').description(
    'show the agents of all nodes in one table; exit code 3 if one is not ready, 1 if one does not answer',
  );
  return addNodesOptions(command).action(async (options: NodesOptions) => {
    const { output } = options;
    const asked = { args: ['status', '-o', 'json'], read: recordSaid, table: TABLE, output };
    await askTable(await reach(options, given), asked);
  });
}
