import { colour, countText, heads } from '../../../commands/status/words.ts';
import { wrapped } from '../../../commands/terminal/fit.ts';
import { formatWrappedTable } from '../../../commands/text-table.ts';
import { agent, NOT_RUNNING, PROOF } from './agent.ts';
import type { Finding, Result } from './check.ts';

/** A check that has ended. */
export interface Checked extends Finding {
  readonly name: string;
}

export interface Verdict {
  readonly answer: string;
  readonly problemCount: number;
  readonly warningCount: number;
}

const COLOURS = { good: 'green', warning: 'yellow', problem: 'red', skipped: 'dim' } as const;
const INDENT = '  ';
const ALL_REACHED = "this machine can reach the cluster's Services";
const SOME_REACHED = "this machine cannot reach all of the cluster's Services";
const NONE_REACHED = "this machine cannot reach the cluster's Services";
const NOT_KNOWN = 'Services of the cluster could not be tried';

export function verdictOf(checked: readonly Checked[]): Verdict {
  const count = (result: Result): number => checked.filter((each) => each.result === result).length;
  const [problemCount, warningCount] = [count('problem'), count('warning')];
  const counts = [
    ...(problemCount > 0 ? [countText(problemCount, 'problem')] : []),
    ...(warningCount > 0 ? [countText(warningCount, 'warning')] : []),
  ];
  const isRunning = !checked.some(({ what }) => what === NOT_RUNNING);
  if (problemCount > 0) {
    const so = isRunning ? reachedInSpite(checked) : NOT_RUNNING;
    return { answer: `${so}; ${counts.join(', ')}`, problemCount, warningCount };
  }
  const reached = isRunning ? ALL_REACHED : `${NOT_RUNNING}; nothing else stands in the way`;
  return { answer: [reached, ...counts].join('; '), problemCount, warningCount };
}

/** With problems: what the connection to a Service says, or the agent where none was tried. */
function reachedInSpite(checked: readonly Checked[]): string {
  const resultOf = (of: string) => checked.find(({ name }) => name === of)?.result;
  if (resultOf(PROOF) === 'good') return SOME_REACHED;
  const isFailing = [resultOf(PROOF), resultOf(agent.name)].includes('problem');
  return isFailing ? NONE_REACHED : NOT_KNOWN;
}

/** The answer, the table, and what to do about each finding. */
export function checkView(checked: readonly Checked[], width: number): string {
  const rows = checked.map(({ name, result, what }) => [
    name,
    colour(COLOURS[result], result),
    what,
  ]);
  const table = formatWrappedTable([heads('CHECK', 'RESULT', 'FOUND'), ...rows], { width });
  const advice = checked
    .filter(({ next }) => next !== undefined)
    .sort((a, b) => Number(b.result === 'problem') - Number(a.result === 'problem'))
    .map(({ name, next = '' }) => adviceText(name, next, width));
  return [verdictOf(checked).answer, table, ...(advice.length > 0 ? [advice.join('\n')] : [])].join(
    '\n\n',
  );
}

function adviceText(name: string, next: string, width: number): string {
  const lines = wrapped(next, width - INDENT.length).map((line) => INDENT + line);
  return [`${name}:`, ...lines].join('\n');
}
