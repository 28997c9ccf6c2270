import { styleText } from 'node:util';
import { formatTable } from '../../lab/host/table.ts';
import { provenText, sumOf } from '../explain/tally.ts';
import type { ScenarioResult } from '../runner/run-scenario.ts';

const MARKS = {
  pass: 'pass',
  fail: 'FAIL',
  'known-difference': 'known',
  'not-asked': 'not asked',
} as const;
const COLOURS = {
  pass: 'green',
  fail: 'red',
  'known-difference': 'yellow',
  'not-asked': 'gray',
} as const;

/** Scenario by proxy, with the time each took; then every reason in full. */
export function resultsTable(results: readonly ScenarioResult[]): string {
  const { scenarios, proxies, cell } = pivot(results);
  const explainedProxies = proxies.filter((proxy) =>
    results.some((result) => result.proxy === proxy && result.explained),
  );
  const rows = scenarios.map((scenario) => [
    scenario,
    ...proxies.map((proxy) => {
      const result = cell(scenario, proxy);
      if (!result) return '';
      const mark = styleText(COLOURS[result.result], MARKS[result.result]);
      if (result.result === 'not-asked') return mark;
      return `${mark} ${(result.milliseconds / 1000).toFixed(1)} s`;
    }),
    ...explainedProxies.map((proxy) => explainCell(cell(scenario, proxy))),
  ]);
  const heads = explainedProxies.map((proxy) => `EXPLAIN ${proxy}`);
  const table = formatTable([['SCENARIO', ...proxies, ...heads], ...rows]);
  const counts = explainTotals(results);
  const reasons = [...reasonLines(results), ...disturbedLines(results)];
  const sums = [...totals(results), ...disturbedTotals(results)];
  return [table, '', ...reasons, ...sums, ...counts].join('\n');
}

function explainCell(result: ScenarioResult | undefined): string {
  return result?.explained ? provenText(result.explained) : '';
}

/** For each proxy that was asked to explain. */
function explainTotals(results: readonly ScenarioResult[]): string[] {
  return [...Map.groupBy(results, (result) => result.proxy)].flatMap(([proxy, own]) => {
    const counts = own.flatMap(({ explained }) => (explained ? [explained] : []));
    if (counts.length === 0) return [];
    const sum = sumOf(counts);
    const reasons = Object.entries(sum.notProven).map(([reason, count]) => `; ${count}: ${reason}`);
    return [
      `${proxy}: explain, packets and proof agree: ${provenText(sum)}, ${sum.provenFirst} of them before the packets${reasons.join('')}`,
    ];
  });
}

/** The same as a Markdown table, without times: it changes only when behaviour does. */
export function resultsMarkdown(
  results: readonly ScenarioResult[],
  titles: ReadonlyMap<string, string>,
): string {
  const { scenarios, proxies, cell } = pivot(results);
  const reasons: string[] = [];
  const rows = scenarios.map((scenario) => {
    const cells = proxies.map((proxy) => {
      const result = cell(scenario, proxy);
      if (result === undefined || result.reason === '' || result.result === 'fail') {
        return result?.result ?? '';
      }
      let index = reasons.indexOf(result.reason);
      if (index < 0) index = reasons.push(result.reason) - 1;
      const mark = result.result === 'known-difference' ? 'differs' : MARKS[result.result];
      return `${mark} (${index + 1})`;
    });
    return `| \`${scenario}\`: ${titles.get(scenario) ?? ''} | ${cells.join(' | ')} |`;
  });
  return [
    `| scenario | ${proxies.join(' | ')} |`,
    `|---|${proxies.map(() => '---|').join('')}`,
    ...rows,
    '',
    ...reasons.map((reason, index) => `${index + 1}. ${reason}`),
    '',
    ...totals(results).map((line) => `- ${line}`),
  ].join('\n');
}

function totals(results: readonly ScenarioResult[]): string[] {
  return [...Map.groupBy(results, (result) => result.proxy)].map(([proxy, own]) => {
    const count = (kind: ScenarioResult['result']): number =>
      own.filter((result) => result.result === kind).length;
    const notAsked = count('not-asked');
    const rest = notAsked === 0 ? '' : `, ${notAsked} not asked`;
    return `${proxy}: ${count('pass')} pass, ${count('known-difference')} known differences, ${count('fail')} fail${rest}`;
  });
}

function reasonLines(results: readonly ScenarioResult[]): string[] {
  return results
    .filter((result) => result.reason !== '')
    .map((r) => `${MARKS[r.result]}  ${r.scenario} on ${r.proxy}: ${r.reason}\n`);
}

/** Runs that do not count, each with what was wrong. */
function disturbedLines(results: readonly ScenarioResult[]): string[] {
  return results.flatMap(({ scenario, proxy, disturbed = [] }) =>
    disturbed.map(
      ({ reason, takenShare }) =>
        `run again  ${scenario} on ${proxy}: ${takenText(takenShare)}: ${reason}\n`,
    ),
  );
}

function disturbedTotals(results: readonly ScenarioResult[]): string[] {
  const again = results.filter(({ disturbed }) => disturbed !== undefined);
  return [...Map.groupBy(again, ({ proxy }) => proxy)].map(
    ([proxy, own]) => `${proxy}: run again, alone, as the host was busy: ${own.length}`,
  );
}

export function takenText(share = 0): string {
  return `the host of the machine took ${Math.round(share * 100)} % of its processors`;
}

function pivot(results: readonly ScenarioResult[]): {
  scenarios: string[];
  proxies: string[];
  cell: (scenario: string, proxy: string) => ScenarioResult | undefined;
} {
  const cells = new Map(results.map((r) => [`${r.scenario} ${r.proxy}`, r]));
  return {
    scenarios: [...new Set(results.map((result) => result.scenario))],
    proxies: [...new Set(results.map((result) => result.proxy))],
    cell: (scenario, proxy) => cells.get(`${scenario} ${proxy}`),
  };
}
