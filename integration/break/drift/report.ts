import { formatTable } from '../../../lab/host/table.ts';
import type { DriftFigures } from './drift.ts';

interface BackendFigures {
  readonly backend: string;
  readonly figures: readonly DriftFigures[];
}

const HEAD = ['backend', 'change', 'command', 'detected', 'repaired', 'inspection', 'rows written'];

export function driftTable(all: readonly BackendFigures[]): string {
  return formatTable([HEAD.map((cell) => cell.toUpperCase()), ...rowsOf(all)]);
}

export function driftMarkdown(all: readonly BackendFigures[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(HEAD), `|${'---|'.repeat(HEAD.length)}`, ...rowsOf(all).map(line)].join('\n');
}

function rowsOf(all: readonly BackendFigures[]): string[][] {
  return all.flatMap(({ backend, figures }) =>
    figures.map((each) => [
      backend,
      each.what,
      seconds(each.commandMs),
      seconds(each.toldMs),
      each.left.length === 0
        ? seconds(each.rightMs)
        : `NOT: ${each.left.length} lines differ, as ${each.left[0]}`,
      seconds(each.lookMs),
      `${each.wrongRows}`,
    ]),
  );
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
