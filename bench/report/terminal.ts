import { machineText } from '../machine.ts';
import type { Run } from '../record.ts';
import { sectionText } from './section.ts';
import { sectionsOf } from './sections.ts';

/** What a person reads when the measuring is done: tables that have rows, and where it was. */
export function terminalReport(run: Run): string {
  const tables = sectionsOf(run)
    .filter(({ rows }) => rows.length > 0)
    .map(sectionText);
  return ['', ...tables, whereText(run)].join('\n\n');
}

export function whereText(run: Run): string {
  const planted = run.planted === undefined ? '' : ` With a planted ${run.planted}.`;
  const minutes = (run.tookSeconds / 60).toFixed(1);
  return `${machineText(run.machine)}. ${run.startedAt}, ${minutes} minutes.${planted}`;
}
