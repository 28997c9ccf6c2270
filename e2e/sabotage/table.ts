import { styleText } from 'node:util';
import { formatTable } from '../../lab/host/table.ts';
import { shortName } from '../result.ts';
import type { SabotageResult } from './verdict.ts';

export function sabotageTable(results: readonly SabotageResult[]): string {
  const rows = results.flatMap((result) =>
    result.specs.map((spec, index) => [
      index === 0 ? result.sabotage : '',
      shortName(spec.name),
      spec.healthy,
      spec.planted,
      index === 0 ? mark(result) : '',
    ]),
  );
  const head = ['SABOTAGE', 'SPEC', 'WITHOUT', 'WITH', 'VERDICT'];
  return [formatTable([head, ...rows]), '', countLine(results)].join('\n');
}

export function sabotageMarkdown(results: readonly SabotageResult[]): string {
  const rows = results.map((result) => {
    const specs = result.specs.map(
      (spec) => `${shortName(spec.name)}: ${spec.healthy} without, ${spec.planted} with`,
    );
    const verdict = result.caught ? 'caught' : 'MISSED';
    return `| ${result.title} | ${specs.join('<br>')} | ${verdict}, ${result.seconds.toFixed(0)} s |`;
  });
  const head = ['| sabotage | specs that must fail | verdict |', '|---|---|---|'];
  return [...head, ...rows, '', countLine(results)].join('\n');
}

function mark({ caught, reason }: SabotageResult): string {
  return caught ? styleText('green', 'caught') : styleText('red', `MISSED: ${reason}`);
}

function countLine(results: readonly SabotageResult[]): string {
  return `${results.filter((result) => result.caught).length} of ${results.length} sabotages caught`;
}
