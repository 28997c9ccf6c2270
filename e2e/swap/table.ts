import { formatTable } from '../../lab/host/table.ts';
import type { PhaseResult } from './tally.ts';

export function swapTable(results: readonly PhaseResult[]): string {
  const failures = results.flatMap(({ title, tallies }) =>
    tallies
      .filter(({ failed }) => failed > 0)
      .map(({ target, firstFailure }) => `  ${title}: ${target}: ${firstFailure}`),
  );
  const said = failures.length === 0 ? [] : ['', 'The first failure of each:', ...failures];
  return [formatTable(rows(results)), ...said].join('\n');
}

export function swapMarkdown(results: readonly PhaseResult[]): string {
  const [head = [], ...body] = rows(results);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...body.map(line)].join('\n');
}

/** For each target: attempted, failed, slowest answer. */
function rows(results: readonly PhaseResult[]): string[][] {
  const targets = results[0]?.tallies.map(({ target }) => target) ?? [];
  const head = ['while', 'took', ...targets.map((name) => `${name}: tried, failed, slowest`)];
  const body = results.map(({ title, from, to, tallies }) => [
    title,
    `${((to - from) / 1000).toFixed(1)} s`,
    ...tallies.map((t) => `${t.attempted}, ${t.failed}, ${t.slowestMs} ms`),
  ]);
  const sum = targets.map((target) => {
    const all = results.flatMap(({ tallies }) => tallies.filter((t) => t.target === target));
    const total = (of: 'attempted' | 'failed') => all.reduce((count, each) => count + each[of], 0);
    const slowest = Math.max(0, ...all.map(({ slowestMs }) => slowestMs));
    return `${total('attempted')}, ${total('failed')}, ${slowest} ms`;
  });
  const seconds = results.reduce((total, { from, to }) => total + (to - from) / 1000, 0);
  return [head, ...body, ['all', `${seconds.toFixed(1)} s`, ...sum]];
}
