import { colour, countText, heads } from '../../../commands/status/status-texts.ts';
import { wrapped } from '../../../commands/terminal/fit.ts';
import { formatWrappedTable } from '../../../commands/text-table.ts';
import { type BasicFinding, type Level, ofLevel } from '../../../doctor/basic-finding.ts';
import type { Checked } from '../../../doctor/run-checks.ts';
import { agent, NOT_RUNNING, PROOF } from './agent-ready.ts';

export type CheckedFinding = BasicFinding & Checked;

export interface Verdict {
  readonly answer: string;
  readonly problemCount: number;
  readonly warningCount: number;
}

const WORDS = { ok: 'good', note: 'warning', problem: 'problem', unasked: 'skipped' } as const;
const COLOURS = { ok: 'green', note: 'yellow', problem: 'red', unasked: 'dim' } as const;
const INDENT = '  ';
const ALL_REACHED = "this machine can reach the cluster's Services";
const SOME_REACHED = "this machine cannot reach all of the cluster's Services";
const NONE_REACHED = "this machine cannot reach the cluster's Services";
const NOT_KNOWN = 'Services of the cluster could not be tried';

export function verdictOf(checked: readonly CheckedFinding[]): Verdict {
  const problemCount = ofLevel('problem', checked).length;
  const warningCount = ofLevel('note', checked).length;
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
function reachedInSpite(checked: readonly CheckedFinding[]): string {
  const levelOf = (name: string): Level | undefined =>
    checked.find(({ check }) => check === name)?.level;
  if (levelOf(PROOF) === 'ok') return SOME_REACHED;
  const isFailing = [levelOf(PROOF), levelOf(agent.name)].includes('problem');
  return isFailing ? NONE_REACHED : NOT_KNOWN;
}

/** The answer, the table, and what to do about each finding. */
export function checkView(checked: readonly CheckedFinding[], width: number): string {
  const rows = checked.map(({ check, level, what }) => [
    check,
    colour(COLOURS[level], WORDS[level]),
    what,
  ]);
  const table = formatWrappedTable([heads('CHECK', 'RESULT', 'FOUND'), ...rows], { width });
  const advice = checked
    .filter(({ next }) => next !== undefined)
    .sort((a, b) => Number(b.level === 'problem') - Number(a.level === 'problem'))
    .map(({ check, next = '' }) => adviceText(check, next, width));
  return [verdictOf(checked).answer, table, ...(advice.length > 0 ? [advice.join('\n')] : [])].join(
    '\n\n',
  );
}

/** A finding as `-o json` prints it. */
export interface CheckedData extends Omit<BasicFinding, 'level'> {
  readonly name: string;
  readonly result: (typeof WORDS)[Level];
}

export function checkedData({ check, level, ...rest }: CheckedFinding): CheckedData {
  return { name: check, result: WORDS[level], ...rest };
}

function adviceText(name: string, next: string, width: number): string {
  const lines = wrapped(next, width - INDENT.length).map((line) => INDENT + line);
  return [`${name}:`, ...lines].join('\n');
}
