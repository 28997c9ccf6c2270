import type { Level } from '../../doctor/basic-finding.ts';
import type { Report } from '../../doctor/doctor-report.ts';
import type { Result } from '../../doctor/finding.ts';
import { colour, countText } from '../status/status-texts.ts';
import { wrapped } from '../terminal/fit.ts';
import { visible } from '../terminal/visible.ts';
import { findingLines, HEADS } from './finding-text.ts';

const ORDER: readonly Level[] = ['problem', 'unasked', 'note', 'ok'];
const COLOURS = { problem: 'red', unasked: 'yellow', note: 'yellow', ok: 'green' } as const;
export interface DoctorForm {
  /** Passed checks too. */
  readonly isVerbose: boolean;
  readonly width: number;
}

/** The answer on the first line; then what is wrong, the worst first. */
export function doctorView(report: Report, { isVerbose, width }: DoctorForm): string {
  const sorted = ORDER.flatMap((wanted) =>
    report.results.filter(({ level }) => level === wanted && (isVerbose || level !== 'ok')),
  );
  const told = sorted.filter(({ level }) => level !== 'ok');
  const passed = sorted.filter(({ level }) => level === 'ok');
  return [
    headline(report),
    ...together(told).map((results) => resultText(results, width)),
    ...(passed.length === 0 ? [] : [passedText(passed, width)]),
    modesText(report, width),
  ].join('\n\n');
}

function headline({ problems, notes, passed, unasked }: Report): string {
  const found = [
    ...(problems === 0 ? [] : [colour('red', countText(problems, 'problem'))]),
    ...(notes === 0 ? [] : [colour('yellow', countText(notes, 'note'))]),
  ];
  const first = found.length === 0 ? colour('green', 'no problems') : found.join(', ');
  const missing = unasked === 0 ? '' : `, ${unasked} not made`;
  return `${first}; ${countText(passed, 'check')} passed${missing}`;
}

/** What could not be asked for one reason is told at once. */
function together(results: readonly Result[]): readonly (readonly [Result, ...Result[]])[] {
  const groups = new Map<string, [Result, ...Result[]]>();
  results.forEach((result, index) => {
    const { level, code, next } = result;
    const key = level === 'unasked' ? `${code} ${next}` : String(index);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [result]);
    else group.push(result);
  });
  return [...groups.values()];
}

function resultText(results: readonly [Result, ...Result[]], width: number): string {
  const [{ level, code, why, next }] = results;
  const head = `${colour(COLOURS[level], HEADS[level])}  ${colour('bold', code)}`;
  const whats = results.map(({ what }) => what);
  const dim = (text: string): string => colour('dim', text);
  return [head, ...findingLines({ whats, why, next }, { width, dim })].join('\n');
}

/** One line for each. */
function passedText(passed: readonly Result[], width: number): string {
  const names = Math.max(...passed.map(({ check }) => check.length));
  const before = `ok  ${' '.repeat(names)}  `;
  return passed
    .flatMap(({ check, what }) => {
      const [first = '', ...rest] = wrapped(visible(what), width - before.length);
      const head = `${colour('green', 'ok')}  ${check.padEnd(names)}  ${first}`;
      return [head, ...rest.map((line) => ' '.repeat(before.length) + line)];
    })
    .join('\n');
}

/** Which modes could run here, and what the others lack. */
function modesText({ modes, mode: used }: Report, width: number): string {
  const able = modes.filter(({ missing }) => missing.length === 0).map(({ mode }) => mode);
  const lines = [
    `mode: ${used}; can run here: ${able.length === 0 ? 'none' : able.join(', ')}`,
    ...modes.flatMap(({ mode, missing }) =>
      missing.length === 0 ? [] : [`${mode} lacks ${missing.join(', ')}`],
    ),
  ];
  return lines.flatMap((line) => wrapped(line, width)).join('\n');
}
