import { styleText } from 'node:util';
import { formatTable } from '../../lab/host/table.ts';
import type { SabotageResult } from '../sabotage/run-sabotages.ts';

export function sabotageTable(results: readonly SabotageResult[]): string {
  const rows = results.map((result) => [
    result.sabotage,
    result.scenario,
    result.caught ? styleText('green', 'caught') : styleText('red', 'MISSED'),
    `${(result.milliseconds / 1000).toFixed(1)} s`,
    result.reason.slice(0, 110),
  ]);
  const head = ['SABOTAGE', 'SCENARIO', 'VERDICT', 'TIME', 'WHAT THE SCENARIO SAID'];
  return [formatTable([head, ...rows]), '', countLine(results)].join('\n');
}

export function sabotageMarkdown(results: readonly SabotageResult[]): string {
  const rows = results.map(
    (r) => `| ${r.title} | \`${r.scenario}\` | ${r.caught ? 'caught' : 'MISSED'} |`,
  );
  return [
    '| sabotage | scenario that must notice | verdict |',
    '|---|---|---|',
    ...rows,
    '',
    countLine(results),
  ].join('\n');
}

function countLine(results: readonly SabotageResult[]): string {
  return `${results.filter((result) => result.caught).length} of ${results.length} sabotages caught`;
}
