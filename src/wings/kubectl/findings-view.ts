import { arrayAt, isRecord, type JsonRecord, textAt } from '../../cluster/json.ts';
import { findingLines, HEADS } from '../../commands/doctor/finding-text.ts';
import { wrapped } from '../../commands/terminal/fit.ts';
import { visible } from '../../commands/terminal/visible.ts';
import { listedNames } from '../../doctor/places.ts';
import type { NodeAnswer } from './ask-nodes.ts';
import { widthNow } from './nodes-view.ts';

const MOST_NAMES = 5;
/** What breaks Services comes first. */
const LEVELS = ['problem', 'note', 'unasked'] as const;

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
  const on = `${head}  ${code}  on ${listedNames([...new Set(nodes)], MOST_NAMES)}`;
  const lines = findingLines({ whats: [what], why, next }, { width });
  return [...wrapped(visible(on), width), ...lines].join('\n');
}
