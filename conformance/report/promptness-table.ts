import { styleText } from 'node:util';
import { quartilesText } from '../../lab/host/spread.ts';
import { formatTable } from '../../lab/host/table.ts';
import { MOST_BEHIND_MS, type Promptness } from '../promptness/promptness.ts';

const COLOURS = { prompt: 'green', late: 'red', 'no verdict': 'yellow' } as const;

export function promptnessTable(all: readonly Promptness[]): string {
  const head = ['PROXY', 'BARRIER MS', 'BARE WATCHER MS', 'BEHIND', 'VERDICT'];
  const rows = all.map((each) => {
    const [proxy, barrier, watcher, behind] = cells(each);
    const verdict = styleText(COLOURS[each.verdict], each.verdict);
    return [proxy ?? '', barrier ?? '', watcher ?? '', behind ?? '', verdict];
  });
  return formatTable([head, ...rows]);
}

export function promptnessMarkdown(all: readonly Promptness[]): string {
  return [
    `| proxy | round of the barrier, median (p25 to p75) | bare watcher | behind, of ${MOST_BEHIND_MS} ms | verdict |`,
    '|---|---|---|---|---|',
    ...all.map((each) => `| ${[...cells(each), each.verdict].join(' | ')} |`),
  ].join('\n');
}

function cells({ proxy, barrier, watcher, behindMs }: Promptness): string[] {
  return [proxy, quartilesText(barrier), quartilesText(watcher), `${behindMs.toFixed(0)} ms`];
}
