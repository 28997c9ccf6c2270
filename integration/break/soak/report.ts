import { sectionMarkdown } from '../../../bench/report/section.ts';
import { count } from '../../../bench/report/units.ts';
import { formatTable } from '../../../lab/host/table.ts';
import { MEMORY_HEAD, memoryRows } from './memory-table.ts';
import type { SoakResult } from './result.ts';
import { FIGURES, faultsOf, type Verdict, verdictsOf } from './verdicts.ts';

const HOUR_SECONDS = 3_600;
const HEAD = ['figure', 'level', 'growth an hour', '95 % interval', 'verdict'];

/** The answers first, then what they were made of. */
export function terminalReport(results: readonly SoakResult[]): string {
  return [results.map(answerOf).join('\n'), ...results.map(terminalDetails)].join('\n\n');
}

function terminalDetails(result: SoakResult): string {
  const rows = verdictsOf(result).map(rowOf);
  return [
    `Mode ${result.mode}`,
    formatTable([HEAD.map((cell) => cell.toUpperCase()), ...rows]),
    ...memoryTables(result, (head, parts) =>
      formatTable([head.map((cell) => cell.toUpperCase()), ...parts]),
    ),
    loadOf(result),
    ...(result.connections.failed > 0 ? [result.connections.example] : []),
  ].join('\n\n');
}

function memoryTables(
  { samples }: SoakResult,
  table: (head: string[], rows: string[][]) => string,
): string[] {
  const rows = memoryRows(samples);
  return rows.length === 0 ? [] : [table(MEMORY_HEAD, rows)];
}

export function markdownReport(result: SoakResult): string {
  const rows = verdictsOf(result).map(rowOf);
  return [
    answerOf(result),
    sectionMarkdown({ name: '', title: '', head: HEAD, rows }),
    ...memoryTables(result, (head, parts) =>
      sectionMarkdown({ name: '', title: '', head, rows: parts }),
    ),
    loadOf(result),
    `![Resident memory, heap, file descriptors and latency of mode ${result.mode} over the run](soak/${result.mode}.svg)`,
  ].join('\n\n');
}

/** A row for each mode; a figure that is not flat says so. */
export function summaryMarkdown(results: readonly SoakResult[]): string {
  const head = ['mode', 'minutes', ...FIGURES.map(({ name }) => name), 'connections failed'];
  const rows = results.map((result) => [
    result.mode,
    `${result.minutes}`,
    ...verdictsOf(result).map(shortOf),
    `${count(result.connections.failed)} of ${count(result.connections.made)}`,
  ]);
  return sectionMarkdown({ name: '', title: '', head, rows });
}

function shortOf({ level, unit, growth, verdict }: Verdict): string {
  const text = `${level.toFixed(unit === '' ? 0 : 1)}${unit === '' ? '' : ` ${unit}`}`;
  if (verdict === 'flat') return `${text}, flat`;
  const rise = `+${growth.slope.toFixed(1)}${unit === '' ? '' : ` ${unit}`} an hour`;
  return `${text}, ${verdict === 'grows' ? '**grows**' : verdict}: ${rise}`;
}

function answerOf(result: SoakResult): string {
  const faults = faultsOf(result);
  const how = `mode ${result.mode}, ${result.minutes} minutes${result.isLeakPlanted ? ', with a planted leak' : ''}`;
  if (faults.length > 0) return `NOT PASSED: ${how}: ${faults.join('; ')}.`;
  const open = verdictsOf(result).filter(({ verdict }) => verdict === 'undecided');
  return open.length === 0
    ? `Flat: ${how}.`
    : `No leak found: ${how}. Undecided: ${open.map(undecided).join('; ')}.`;
}

function undecided({ what, unit, growth, judgedSeconds }: Verdict): string {
  const risen = (growth.slope * judgedSeconds) / HOUR_SECONDS;
  const minutes = (judgedSeconds / 60).toFixed(1);
  return `${what} rose by ${risen.toFixed(1)} ${unit} in ${minutes} minutes; a longer run tells a leak from settling`;
}

function loadOf({ writes, connections, minutes, samples, unansweredSamples }: SoakResult): string {
  const perSecond = (all: number): string => (all / minutes / 60).toFixed(1);
  return [
    `${count(writes.churn)} changes of endpoints (${perSecond(writes.churn)} a second),`,
    `${count(writes.rolling)} steps of a rolling update, a node lost or found ${count(writes.flapping)} times;`,
    `${count(connections.failed)} of ${count(connections.made)} connections failed.`,
    ...(writes.missed ? [`${count(writes.missed)} writes more had no answer in time.`] : []),
    ...(unansweredSamples
      ? [`The agent left ${count(unansweredSamples)} scrapes unanswered.`]
      : []),
    ...slowestAnswer(samples),
  ].join('\n');
}

function slowestAnswer(samples: SoakResult['samples']): string[] {
  const times = samples.flatMap(({ answerMs }) => (answerMs === undefined ? [] : [answerMs]));
  if (times.length === 0) return [];
  return [`The slowest answer of the agent to a scrape took ${Math.max(...times).toFixed(0)} ms.`];
}

function rowOf({ what, unit, level, growth, verdict }: Verdict): string[] {
  const text = (value: number): string => `${value.toFixed(1)}${unit === '' ? '' : ` ${unit}`}`;
  const signed = (value: number): string => `${value > 0 ? '+' : ''}${text(value)}`;
  return [
    what,
    text(level),
    signed(growth.slope),
    `${signed(growth.least)} to ${signed(growth.most)}`,
    verdict === 'grows' ? 'GROWS' : verdict,
  ];
}
