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
  return `${machineText(run.machine)}. ${run.startedAt}, ${minutes} minutes.${planted}${pairsText(run)}`;
}

/** Slices without an answer, which the medians of the data path miss or count as 0. Empty: none. */
function pairsText({ visits }: Run): string {
  const data = visits.flatMap((visit) => visit.data ?? []);
  const leftOut = data.reduce((sum, { pairsLeftOut = 0 }) => sum + pairsLeftOut, 0);
  const still = data.flatMap(({ rateShares }) => rateShares).filter((share) => share === 0).length;
  const all = leftOut + data.reduce((sum, { rateShares }) => sum + rateShares.length, 0);
  if (leftOut + still === 0) return '';
  return ` Of ${all} pairs of turns ${leftOut} are discarded because the pod itself did not answer, and ${still} count as 0 because the Service did not.`;
}
