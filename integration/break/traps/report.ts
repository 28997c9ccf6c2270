import { formatTable } from '../../../lab/host/table.ts';
import type { TrapResult } from './trap.ts';

const MOST_LETTERS = 160;

export function trapsTable(results: readonly TrapResult[]): string {
  return formatTable([
    ['TRAP', 'FAULT THAT SHOWS IT', 'RESULT'],
    ...results.map(({ trap, failure }) => [trap.name, trap.caughtBy.name, verdict(failure)]),
  ]);
}

export function trapsMarkdown(results: readonly TrapResult[]): string {
  const rows = results.map(({ trap, failure }) => {
    const found = verdict(failure).replaceAll('|', '\\|').replaceAll('\n', ' ');
    return `| ${trap.title} | ${trap.caughtBy.name} | ${found} |`;
  });
  const caught = results.filter(({ failure }) => failure !== undefined).length;
  const head = ['| planted | fault that shows it | how |', '|---|---|---|'];
  return [...head, ...rows, '', `${caught} of ${results.length} traps caught`].join('\n');
}

function verdict(failure: string | undefined): string {
  if (failure === undefined) return 'NOT CAUGHT';
  const short = failure.length > MOST_LETTERS ? `${failure.slice(0, MOST_LETTERS)}…` : failure;
  return `caught: ${short}`;
}
