import { Command } from 'commander';
import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';
import { printPage } from '../../commands/terminal/print.ts';
import { askTable } from './ask-table.ts';
import { findingsText } from './findings-view.ts';
import type { Kubectl } from './kubectl.ts';
import type { NodesTable } from './nodes-view.ts';
import { addNodesOptions, type NodesOptions, reach } from './options.ts';
import { recordSaid, saidCount } from './said.ts';

/** The whole report of `fairlead doctor -o json`. */
const TABLE: NodesTable<JsonRecord> = {
  heads: ['PROBLEMS', 'NOTES', 'NOT CHECKED', 'CODES'],
  well: 'without problems',
  row: (report) => {
    const counts = ['problems', 'notes', 'unasked'].map((name) => saidCount(report, name));
    const results = arrayAt(report, 'results').filter(isRecord);
    const told = results.filter((each) => textAt(each, 'level') !== 'ok');
    const codes = [...new Set(told.map((each) => textAt(each, 'code')))];
    return {
      isWell: counts[0] === 0,
      cells: [...counts.map(String), codes.length === 0 ? '-' : codes.join(', ')],
    };
  },
};

/** `kubectl fairlead doctor`: what on any node would break Services. */
export function nodesDoctorCommand(given?: Kubectl): Command {
  const command = new Command('doctor').description(
    'find what on any node would break Services, and change nothing; exit code 3 if there are problems, 1 if a node does not answer',
  );
  return addNodesOptions(command).action(async (options: NodesOptions) => {
    const { output } = options;
    const asked = { args: ['doctor', '-o', 'json'], read: recordSaid, table: TABLE, output };
    const answers = await askTable(await reach(options, given), asked);
    const findings = output === 'json' ? '' : findingsText(answers);
    if (findings !== '') printPage(`\n${findings}`);
  });
}
