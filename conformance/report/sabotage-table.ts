import { styleText } from 'node:util';
import { formatTable } from '../../lab/host/table.ts';
import type { SabotageResult } from '../sabotage/stage.ts';

export function sabotageTable(results: readonly SabotageResult[]): string {
  const rows = results.map((result) => [
    result.proxy,
    result.sabotage,
    result.scenario,
    result.caught ? styleText('green', 'caught') : styleText('red', 'MISSED'),
    `${(result.milliseconds / 1000).toFixed(1)} s`,
    result.reason.slice(0, 110),
  ]);
  const head = ['PROXY', 'SABOTAGE', 'NOTICED BY', 'VERDICT', 'TIME', 'WHAT IT SAID'];
  return [formatTable([head, ...rows]), '', countLine(results)].join('\n');
}

export function sabotageMarkdown(results: readonly SabotageResult[]): string {
  const rows = results.map(
    (r) => `| ${r.proxy} | ${r.title} | ${noticerText(r)} | ${r.caught ? 'caught' : 'MISSED'} |`,
  );
  return [
    '| proxy | sabotage | what must fail | verdict |',
    '|---|---|---|---|',
    ...rows,
    '',
    countLine(results),
  ].join('\n');
}

/** A scenario by its name; of many, how many noticed. */
function noticerText({ scenario, reason, caught }: SabotageResult): string {
  if (scenario === 'every change') return caught ? `${scenario}: ${reason}` : scenario;
  return scenario.includes('/') ? `\`${scenario}\`` : scenario;
}

function countLine(results: readonly SabotageResult[]): string {
  return `${results.filter((result) => result.caught).length} of ${results.length} sabotages caught`;
}
