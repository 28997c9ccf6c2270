import type { Part } from './part.ts';
import { firstFailure, type PartResult, type Summary, secondsOf } from './results.ts';

/** `used` of the budget, `share` of the whole time. */
const HEAD = ['part', 'seconds', 'budget', 'used', 'share', 'result'];
const MOST_COLUMNS = 80;

/** Aligned, numbers to the right, in no line more than 80 columns. */
export function summaryTable(summary: Summary): string {
  const total = secondsOf(summary.results);
  const rows = [
    HEAD,
    ...summary.results.map((result) => rowOf(result, total)),
    totalRow(summary.results, total),
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const isText = column === 0 || column === HEAD.length - 1;
        const width = widths[column] ?? 0;
        return isText ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd()
      .slice(0, MOST_COLUMNS);
  return rows.map(line).join('\n');
}

function rowOf(result: PartResult, total: number): string[] {
  const { name, seconds, budgetSeconds, failure } = result;
  return [
    name,
    seconds.toFixed(1),
    `${budgetSeconds}`,
    percent(seconds / budgetSeconds),
    percent(seconds / total),
    failure === undefined ? 'passed' : 'FAILED',
  ];
}

function totalRow(results: readonly PartResult[], total: number): string[] {
  const budget = results.reduce((sum, { budgetSeconds }) => sum + budgetSeconds, 0);
  return ['all', total.toFixed(1), `${budget}`, percent(total / budget), percent(1), ''];
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : '';
}

/** One line for each failure, then what came of it all; the last line names the first failure. */
export function verdictLines(summary: Summary): string[] {
  const failed = summary.results.filter(({ failure }) => failure !== undefined);
  const first = firstFailure(summary);
  const minutes = `${(secondsOf(summary.results) / 60).toFixed(1)} min`;
  if (first) {
    const lines = failed.map(({ name, failure }) => `${name}: ${failure}`);
    const others = failed.length > 1 ? `, and ${failed.length - 1} more` : '';
    return [...lines, `.ci/${summary.plan}: FAILED in: ${first.name} (${first.failure})${others}`];
  }
  const count = summary.results.length;
  if (summary.notRun.length > 0) {
    return [
      `.ci/${summary.plan}: ${count} parts passed in ${minutes}, ${summary.notRun.length} not run`,
    ];
  }
  return [`.ci/${summary.plan}: all ${count} parts passed in ${minutes}`];
}

export function summaryJson(summary: Summary): string {
  const total = secondsOf(summary.results);
  const round = (value: number): number => Math.round(value * 1_000) / 1_000;
  const parts = summary.results.map((result) => ({
    ...result,
    seconds: round(result.seconds),
    shareOfBudget: round(result.seconds / result.budgetSeconds),
    shareOfTotal: round(result.seconds / total),
  }));
  const { results: _, ...head } = summary;
  const failed = firstFailure(summary)?.name;
  return `${JSON.stringify({ ...head, totalSeconds: round(total), failed, parts }, null, 2)}\n`;
}

/** What the parts are and may take, with what they took when the document was made. */
export function partsMarkdown(parts: readonly Part[], results: readonly PartResult[]): string {
  const took = new Map(results.map((result) => [result.name, result]));
  const rows = parts.map(({ name, about, command, budget }) => {
    const shown = command === undefined ? '' : `<br>\`${command.map(quoted).join(' ')}\``;
    const result = took.get(name);
    const seconds = result === undefined ? '' : `${Math.round(result.seconds)}`;
    const { cached, cold } = budget;
    return `| \`${name}\`: ${about}${shown} | ${seconds} | ${cached} | ${cold === cached ? '' : cold} |`;
  });
  const sum = (of: (part: Part) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  const measured = Math.round(secondsOf(parts.flatMap(({ name }) => took.get(name) ?? [])));
  const all = `| all | ${measured} | ${sum((p) => p.budget.cached)} | ${sum((p) => p.budget.cold)} |`;
  return ['| part | took, s | budget, s | cold, s |', '|---|---|---|---|', ...rows, all].join('\n');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll('|', '\\|')}'`;
}
