import { formatTable } from '../../../lab/host/table.ts';
import { faultsOf, type VersionResult } from './run-version.ts';

const HEAD = ['API server', 'missing', 'Fairlead does', 'warnings', 'first sync', 'scenarios'];

export function versionsTable(results: readonly VersionResult[]): string {
  return formatTable([HEAD.map((cell) => cell.toUpperCase()), ...results.map(rowOf)]);
}

export function versionsMarkdown(results: readonly VersionResult[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const left = [...new Set(results.flatMap(({ leftOut }) => leftOut))].sort();
  const note = left.map((name) => `\`${name}\``).join(', ');
  return [
    line(HEAD),
    `|${'---|'.repeat(HEAD.length)}`,
    ...results.map((result) => line(rowOf(result))),
    ...(left.length === 0
      ? []
      : ['', `Left out where the API server does not accept them: ${note}.`]),
  ].join('\n');
}

function rowOf(result: VersionResult): string[] {
  const { version, server, warnings, firstSyncMs, results, leftOut } = result;
  const passed = results.filter((each) => each.result !== 'fail').length;
  const out = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`;
  const by = server.emulatedBy === undefined ? '' : `, emulated by ${server.emulatedBy}`;
  return [
    `${server.version ?? version}${by}`,
    server.gaps.map(({ feature, reason }) => `${feature} (${reason})`).join('; ') || 'nothing',
    server.gaps.map(({ effect }) => effect).join('; ') || 'everything',
    String(Math.max(0, ...warnings.map(({ length }) => length))),
    `${(firstSyncMs / 1000).toFixed(1)} s`,
    `${passed} of ${results.length} pass${out}`,
  ];
}

/** What went wrong, by version; empty when nothing did. */
export function faultsText(results: readonly VersionResult[]): string {
  return results
    .flatMap((result) => faultsOf(result).map((fault) => `${result.version}: ${fault}`))
    .join('\n');
}
