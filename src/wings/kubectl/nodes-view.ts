import { visible } from '../../commands/terminal/visible.ts';
import { formatWrappedTable } from '../../commands/text-table.ts';
import type { NodeAnswer } from './ask-nodes.ts';

/** `0`: well everywhere; `3`: not on some node; `1`: nothing bad was said, but not every node answered. */
const EXIT = { well: 0, unanswered: 1, notWell: 3 } as const;

const USUAL_WIDTH = 80;
const LEAST_WIDTH = 40;
const SILENT = 'no answer';

/** How one answer stands in the table. */
export interface NodeRow {
  readonly isWell: boolean;
  /** After the name of the node; the last cell is wrapped. */
  readonly cells: readonly string[];
}

export interface NodesTable<T> {
  /** Column heads, after that of the node. The second column says the state. */
  readonly heads: readonly string[];
  readonly row: (said: T) => NodeRow;
  /** `ready`, `as desired`: what the nodes are that are well. */
  readonly well: string;
}

/** The answer in the first line, then a row for each node. */
export function nodesText<T>(answers: readonly NodeAnswer<T>[], table: NodesTable<T>): string {
  const rows = answers.map((answer) => (answer.answers ? table.row(answer.said) : undefined));
  const cells = answers.map((answer, index) => {
    const told = answer.answers ? (rows[index]?.cells ?? []) : silentCells(answer.why, table);
    return [answer.node, ...told].map(visible);
  });
  const isWell = rows.filter((row) => row?.isWell).length;
  const silent = answers.filter((answer) => !answer.answers).length;
  return [
    headline({ count: answers.length, isWell, silent, well: table.well }),
    '',
    formatWrappedTable([['NODE', ...table.heads], ...cells], { width: widthNow() }),
  ].join('\n');
}

function silentCells<T>(why: string, { heads }: NodesTable<T>): string[] {
  const between = heads.slice(1, -1).map(() => '-');
  return heads.length === 1 ? [`${SILENT}: ${why}`] : [SILENT, ...between, why];
}

function headline(counted: {
  readonly count: number;
  readonly isWell: number;
  readonly silent: number;
  readonly well: string;
}): string {
  const { count, isWell, silent, well } = counted;
  const nodes = count === 1 ? 'node' : 'nodes';
  const unasked = silent === 0 ? '' : `; no answer from ${silent}`;
  return `${isWell} of ${count} ${nodes} ${well}${unasked}`;
}

export function exitFor<T>(answers: readonly NodeAnswer<T>[], row: NodesTable<T>['row']): number {
  const isBad = answers.some((answer) => answer.answers && !row(answer.said).isWell);
  if (isBad) return EXIT.notWell;
  return answers.every((answer) => answer.answers) ? EXIT.well : EXIT.unanswered;
}

/** Nodes that said nothing, for a page that has no row for each node. */
export function silentLines<T>(answers: readonly NodeAnswer<T>[]): string[] {
  const lines = answers.flatMap((answer) =>
    answer.answers ? [] : [visible(`${answer.node}: ${SILENT}: ${answer.why}`)],
  );
  return lines.length === 0 ? [] : ['', ...lines];
}

/** For `-o json`: one object for each node. */
export function nodesData<T>(answers: readonly NodeAnswer<T>[]): readonly object[] {
  return answers.map((answer) =>
    answer.answers
      ? { node: answer.node, said: answer.said }
      : { node: answer.node, error: answer.why },
  );
}

/** Some terminals say that they have no columns. */
export function widthNow(): number {
  return Math.max(LEAST_WIDTH, process.stdout.columns || USUAL_WIDTH);
}
