import { formatTable } from '../../../lab/host/table.ts';
import type { FaultResult } from './run-fault.ts';

/** For a person in front of a terminal. */
export function faultsTable(results: readonly FaultResult[]): string {
  const rows = results.map((result) => [
    result.fault.name,
    result.felt.join(', '),
    timeOf(result),
    outcomeOf(result),
  ]);
  return formatTable([['FAULT', 'ERRORS SEEN', 'RECOVERED AFTER', 'RESULT'], ...rows]);
}

export function faultsMarkdown(results: readonly FaultResult[]): string {
  const rows = results.map((result) => {
    const { name, done } = result.fault;
    const felt = result.felt.map((problem) => `\`${problem}\``).join(', ');
    return `| ${[name, done, felt, timeOf(result), outcomeOf(result)].join(' | ')} |`;
  });
  const head = '| fault | what was done | errors seen | recovered after | result |';
  return [head, '|---|---|---|---|---|', ...rows].join('\n');
}

function timeOf({ failure, rightAfterMs }: FaultResult): string {
  return failure === undefined ? `${(rightAfterMs / 1_000).toFixed(1)} s` : '';
}

function outcomeOf({ failure }: FaultResult): string {
  return failure === undefined ? 'right' : `FAIL: ${failure}`;
}
