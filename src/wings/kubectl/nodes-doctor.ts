import { Command } from 'commander';
import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';
import { findingLines, HEADS } from '../../commands/doctor/finding-text.ts';
import { wrapped } from '../../commands/terminal/fit.ts';
import { printPage } from '../../commands/terminal/print.ts';
import { visible } from '../../commands/terminal/visible.ts';
import { listedNames } from '../../doctor/finding.ts';
import type { NodeAnswer } from './ask-nodes.ts';
import { askTable } from './ask-table.ts';
import type { Kubectl } from './kubectl.ts';
import { addNodesOptions, type NodesOptions, reach } from './nodes-options.ts';
import { type NodesTable, widthNow } from './nodes-view.ts';
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

const MOST_NAMES = 5;
/** What breaks Services comes first. */
const LEVELS = ['problem', 'note', 'unasked'] as const;

/** Each code once, with the nodes that have it; what, why and next as the first of them says it. */
function findingsText(answers: readonly NodeAnswer<JsonRecord>[]): string {
  const all = answers.flatMap((answer) => {
    const results = answer.answers ? arrayAt(answer.said, 'results').filter(isRecord) : [];
    return results.map((finding) => ({ node: answer.node, finding }));
  });
  const blocks = LEVELS.flatMap((level) => {
    const own = all.filter(({ finding }) => textAt(finding, 'level') === level);
    const byCode = Map.groupBy(own, ({ finding }) => textAt(finding, 'code'));
    return [...byCode.values()].flatMap((same) => {
      const [first] = same;
      if (first === undefined) return [];
      return [
        findingText(
          HEADS[level],
          first.finding,
          same.map(({ node }) => node),
        ),
      ];
    });
  });
  return blocks.join('\n\n');
}

function findingText(head: string, finding: JsonRecord, nodes: readonly string[]): string {
  const [code, what = '', why, next] = ['code', 'what', 'why', 'next'].map((each) =>
    textAt(finding, each),
  );
  const width = widthNow();
  const on = `${head}  ${code}  on ${listedNames([...new Set(nodes)], MOST_NAMES)}`;
  const lines = findingLines({ whats: [what], why, next }, { width });
  return [...wrapped(visible(on), width), ...lines].join('\n');
}
