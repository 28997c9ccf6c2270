import { formatTable } from '../../../lab/host/table.ts';
import { type ChangeResult, faultsOf, sumOf } from './change.ts';
import { begunAgain, sentAgain } from './counters.ts';

const HEAD = [
  'from',
  'to',
  'connections',
  'failed',
  'reset or refused',
  'retransmissions (of SYNs)',
  'longest gap of the streams (pause of the load generator)',
  'rules kept, added, deleted',
  'left of the old proxy',
  'took',
  'result',
];

export function changesTable(results: readonly ChangeResult[]): string {
  return formatTable([HEAD.map((cell) => cell.toUpperCase()), ...results.map(rowOf)]);
}

export function changesMarkdown(results: readonly ChangeResult[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(HEAD), `|${'---|'.repeat(HEAD.length)}`, ...results.map(rowOf).map(line)].join('\n');
}

/** What a person needs to find out why a connection failed, or was late. */
export function evidenceOf(result: ChangeResult): string {
  const { load, from, to, begunMs, counters } = result;
  const all = load.flatMap(({ odd }) => odd);
  if (faultsOf(result).length === 0) return '';
  const rows = all.map((odd) => [
    odd.way,
    `port ${odd.sourcePort}`,
    `begun at ${(odd.begunMs - begunMs).toFixed(0)} ms`,
    `${odd.tookMs.toFixed(0)} ms`,
    odd.error ?? 'answered',
  ]);
  const rises = Object.entries(counters).map(([name, rise]) => `${name} +${rise}`);
  return [
    `${from} -> ${to}; times are since the old proxy got SIGTERM`,
    formatTable(rows),
    ...result.tracked,
    `counters: ${rises.join(', ')}`,
  ].join('\n');
}

function rowOf(result: ChangeResult): string[] {
  const { load, rules, lines, left, tookMs, counters } = result;
  const silenceMs = Math.max(...load.map(({ stream }) => stream.longestSilenceMs));
  const pauseMs = Math.max(...load.map(({ longestPauseMs }) => longestPauseMs));
  const faults = faultsOf(result);
  return [
    result.from,
    result.to,
    `${sumOf(load, ({ made }) => made)}`,
    `${sumOf(load, ({ failed }) => failed)}`,
    `${sumOf(load, ({ refusedOrReset }) => refusedOrReset)}`,
    `${sentAgain(counters)} (${begunAgain(counters)})`,
    `${silenceMs.toFixed(0)} ms (${pauseMs.toFixed(0)} ms)`,
    rules
      ? `${rules.kept}, ${rules.added}, ${rules.gone}`
      : `lines: ${lines.added} added, ${lines.gone} deleted`,
    left.length === 0 ? 'nothing' : `${left.length} lines`,
    `${(tookMs / 1_000).toFixed(1)} s`,
    faults.length === 0 ? 'unnoticed' : `FAIL: ${faults.join('; ')}`,
  ];
}
