import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';
import { wrapped } from '../../commands/terminal/fit.ts';
import { visible } from '../../commands/terminal/visible.ts';
import type { NodeAnswer } from './ask-nodes.ts';
import { widthNow } from './nodes-view.ts';

const INDENT = '  ';
const LABEL_WIDTH = 6;
const MOST_NAMES = 5;
/** What breaks Services comes first. */
const LEVELS = ['problem', 'note', 'unasked'] as const;
const HEADS = { problem: 'problem', note: 'note', unasked: 'not checked' } as const;

/** Each code once, with the nodes that have it; what, why and next as the first of them says it. */
export function findingsText(answers: readonly NodeAnswer<JsonRecord>[]): string {
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
  const on = `${head}  ${code}  on ${nodesText([...new Set(nodes)])}`;
  return [
    ...wrapped(visible(on), width),
    ...wrapped(visible(what), width - INDENT.length).map((line) => INDENT + line),
    ...labelled('why', why, width),
    ...labelled('next', next, width),
  ].join('\n');
}

function labelled(label: string, text: string | undefined, width: number): string[] {
  if (text === undefined || text === '') return [];
  return wrapped(visible(text), width - INDENT.length - LABEL_WIDTH).map((line, index) => {
    return `${INDENT}${(index === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`;
  });
}

/** `node1, node2 and 3 more`. */
function nodesText(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  if (more <= 0) return names.join(', ');
  return `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more`;
}
