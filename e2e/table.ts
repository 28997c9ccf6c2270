import { formatTable } from '../lab/host/table.ts';
import { type ProxyResults, type SpecResult, shortName } from './result.ts';
import { LEFT_OUT } from './specs.ts';

const MARKS = { passed: '✓', failed: '✗', skipped: '–' } as const;

/** Spec by proxy, for a terminal. */
export function specTable(runs: readonly ProxyResults[]): string {
  return formatTable([['SPEC', ...runs.map((run) => run.proxy)], ...rows(runs), ...sums(runs)]);
}

/** The same for a document, with the reasons of what was skipped and of what never runs. */
export function specMarkdown(runs: readonly ProxyResults[]): string {
  const head = ['spec', ...runs.map((run) => `\`${run.proxy}\``)];
  const skips = new Map(
    runs.flatMap((run) =>
      run.specs
        .filter((spec) => spec.state === 'skipped')
        .map((spec) => [shortName(spec.name), firstLine(spec.message)] as const),
    ),
  );
  const reasons = [
    ...[...skips].map(([name, reason]) => [name, `skips itself: ${reason}`]),
    ...LEFT_OUT.map(({ pattern, reason }) => [`\`${pattern.replaceAll('\\', '')}\``, reason]),
  ];
  return [
    markdownTable([head, ...rows(runs), ...sums(runs)]),
    '',
    'What cannot run here:',
    '',
    markdownTable([['spec', 'why'], ...reasons]),
  ].join('\n');
}

function rows(runs: readonly ProxyResults[]): string[][] {
  const names = new Set(runs.flatMap((run) => run.specs.map((spec) => spec.name)));
  return [...names]
    .sort()
    .map((name) => [
      shortName(name),
      ...runs.map((run) => cell(run.specs.find((spec) => spec.name === name))),
    ]);
}

function cell(spec: SpecResult | undefined): string {
  if (spec === undefined) return '';
  const time = spec.state === 'skipped' ? '' : ` ${spec.seconds.toFixed(1)} s`;
  return `${MARKS[spec.state]}${time}`;
}

function sums(runs: readonly ProxyResults[]): string[][] {
  const count = (run: ProxyResults, state: SpecResult['state']): number =>
    run.specs.filter((spec) => spec.state === state).length;
  return [
    [
      'passed, failed, skipped',
      ...runs.map(
        (run) => `${count(run, 'passed')}, ${count(run, 'failed')}, ${count(run, 'skipped')}`,
      ),
    ],
    [
      'cluster up, specs',
      ...runs.map((run) => `${run.upSeconds.toFixed(0)} s, ${run.runSeconds.toFixed(0)} s`),
    ],
  ];
}

function markdownTable([head = [], ...body]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...body.map(line)].join('\n');
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
