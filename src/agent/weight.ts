import type { RowChange } from '../dataplanes/contract.ts';
import { knownRow } from '../dataplanes/row-change.ts';
import type { Forwarding } from '../forwarding/model.ts';
import { changeOf, type Entry } from './outstanding-entry.ts';

/**
 * Upper bound of the kernel objects of a change: what the kernel has of the row may have to be
 * deleted, and what is desired added. Reads lengths only, never endpoints.
 */
export function weightOf({ before, after }: Pick<RowChange, 'before' | 'after'>): number {
  return rowWeight(knownRow(before)) + rowWeight(after);
}

/** The same for what is to be written of a row, with what the plane may have to delete besides. */
export function entryWeight(entry: Entry): number {
  return weightOf(changeOf(entry)) + leftoverWeight(entry);
}

/** The same when all of the row is removed. */
export function removalWeight(entry: Entry): number {
  return weightOf({ ...changeOf(entry), after: undefined }) + leftoverWeight(entry);
}

function leftoverWeight({ leftovers }: Entry): number {
  if (leftovers === undefined) return 0;
  return leftovers.reduce((most, row) => Math.max(most, rowWeight(row)), 0);
}

function rowWeight(row: Forwarding | undefined): number {
  if (row === undefined) return 0;
  const { frontends, clusterEndpoints, localEndpoints } = row;
  let weight = frontends.length + clusterEndpoints.length + localEndpoints.length;
  let counted: Set<readonly string[]> | undefined;
  for (const { allowedSources } of frontends) {
    if (allowedSources === undefined || counted?.has(allowedSources)) continue;
    // Frontends of one row nearly always share one list of ranges, which a plane writes once.
    counted ??= new Set();
    counted.add(allowedSources);
    weight += allowedSources.length;
  }
  return weight;
}
