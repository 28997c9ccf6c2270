import { sectionMarkdown } from '../../../bench/report/section.ts';
import type { PlaneResult } from '../../break/faults/plane/plane-fault.ts';

/** What clients noticed of the change of version in one mode. */
export interface Upgrade {
  readonly mode: string;
  readonly result: PlaneResult;
}

const HEAD = ['mode', 'start', 'what clients noticed', 'result'];

export function isPassed({ result }: Upgrade): boolean {
  return result.outcome !== undefined && result.outcome.skipped === undefined;
}

/** The answer first. */
export function upgradesTable(commit: string, upgrades: readonly Upgrade[]): string {
  const rows = upgrades.map((upgrade) => {
    const [mode = '', start = '', noticed = '', result = ''] = rowOf(upgrade);
    return `${mode}: ${result}\n  ${[start, ...noticed.split('; ')].filter(Boolean).join('\n  ')}`;
  });
  return [answerOf(commit, upgrades), ...rows].join('\n\n');
}

export function upgradesMarkdown(commit: string, upgrades: readonly Upgrade[]): string {
  const table = sectionMarkdown({ name: '', title: '', head: HEAD, rows: upgrades.map(rowOf) });
  return `${answerOf(commit, upgrades)}\n\n${table}`;
}

function answerOf(commit: string, upgrades: readonly Upgrade[]): string {
  const passed = upgrades.filter(isPassed).length;
  const how = `from ${commit} to this version and back, three times`;
  return passed === upgrades.length
    ? `Unnoticed in ${modesText(passed)}: ${how}.`
    : `NOTICED in ${upgrades.length - passed} of ${upgrades.length} modes: ${how}.`;
}

function modesText(count: number): string {
  return count === 1 ? 'the one mode that was run' : `all ${count} modes`;
}

function rowOf({ mode, result: { outcome, failure } }: Upgrade): string[] {
  if (outcome === undefined) return [mode, '', '', `FAIL: ${failure?.replaceAll('\n', ' ')}`];
  const { rightAfter, lost, skipped } = outcome;
  return [mode, rightAfter, lost, skipped === undefined ? 'unnoticed' : `skipped: ${skipped}`];
}
