import { formatTable } from '../../../lab/host/table.ts';
import type { LeftOut } from './list.ts';
import type { IncidentResult } from './result.ts';
import { gotText } from './verdict.ts';

const MOST_LETTERS = 110;

export interface IncidentReport {
  readonly proxy: string;
  readonly results: readonly IncidentResult[];
  readonly leftOut: readonly LeftOut[];
}

export function incidentsTable({ results, leftOut, proxy }: IncidentReport): string {
  const rows = results.map((result) => [
    result.incident.name,
    ...cellsOf(result),
    `${result.seconds.toFixed(1)} s`,
    short(verdictText(result)),
  ]);
  return [
    formatTable([
      ['INCIDENT', 'CLIENT GOT', 'FIRST LINE', 'EXIT', 'COMMANDS', 'TOOK', 'VERDICT'],
      ...rows,
    ]),
    '',
    `${proxy}: ${sumText(results)}`,
    ...leftOut.map(({ name, reason }) => `not asked: ${name}: ${reason}`),
  ].join('\n');
}

export function incidentsMarkdown({ results, leftOut, proxy }: IncidentReport): string {
  const rows = results.map((result) => {
    const [got = '', code = '', ...rest] = cellsOf(result);
    const shown = /^[A-Z_]+$/.test(code) ? `\`${code}\`` : code;
    const cells = [result.incident.name, got, shown, ...rest, firstFault(result)];
    return `| ${cells.map(cellText).join(' | ')} |`;
  });
  return [
    '| incident | client got | first line | exit | commands to the cause | verdict |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    `${proxy}: ${sumText(results)}${leftOutText(leftOut)}`,
  ].join('\n');
}

function leftOutText(leftOut: readonly LeftOut[]): string {
  if (leftOut.length === 0) return '';
  const reasons = leftOut.map(({ name, reason }) => `${name} (${reason})`);
  return `. Not asked in this mode: ${reasons.join(', ')}`;
}

function cellsOf({ observed, commandsToCause, incident }: IncidentResult): string[] {
  if (observed === undefined) return ['-', '-', '-', '-'];
  const { got, explain } = observed;
  const client =
    got.length === 0 && incident.gets.length === 0 ? 'no address to ask' : gotText(got);
  return [client, explain.code ?? 'no code', `${explain.exit}`, `${commandsToCause ?? '-'}`];
}

function verdictText({ faults }: IncidentResult): string {
  return faults.length === 0 ? 'right' : `WRONG: ${faults.join('; ')}`;
}

/** A document has room for one; the command prints all. */
function firstFault({ faults: [first, ...more] }: IncidentResult): string {
  if (first === undefined) return 'right';
  return `WRONG: ${first}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
}

function sumText(results: readonly IncidentResult[]): string {
  const right = results.filter(({ faults }) => faults.length === 0).length;
  const seconds = results.reduce((sum, each) => sum + each.seconds, 0);
  return `${right} of ${results.length} incidents right, in ${seconds.toFixed(0)} s`;
}

function short(text: string): string {
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
