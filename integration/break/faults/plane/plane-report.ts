import { formatTable } from '../../../../lab/host/table.ts';
import type { PlaneResult } from './plane-fault.ts';

/** For a person in front of a terminal. */
export function planeTable(results: readonly PlaneResult[]): string {
  const rows = results.map((result) => [result.fault.name, ...figuresOf(result)]);
  return formatTable([['FAULT', 'RECOVERED AFTER', 'LOST', 'RESULT'], ...rows]);
}

export function planeMarkdown(results: readonly PlaneResult[]): string {
  const rows = results.map((result) => {
    const { name, done } = result.fault;
    return `| ${[name, done, ...figuresOf(result)].join(' | ')} |`;
  });
  const head = '| fault | what was done | recovered after | lost | result |';
  return [head, '|---|---|---|---|---|', ...rows].join('\n');
}

function figuresOf({ outcome, failure }: PlaneResult): string[] {
  if (outcome === undefined) return ['', '', `FAIL: ${failure?.replaceAll('\n', ' ')}`];
  const result = outcome.skipped === undefined ? 'right' : `skipped: ${outcome.skipped}`;
  return [outcome.rightAfter, outcome.lost, result];
}
