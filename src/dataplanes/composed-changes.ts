import type { Forwarding } from '../forwarding/model.ts';
import type { RowChange } from './contract.ts';
import { knownRow } from './row-change.ts';

/**
 * New rows with affinity go to the front first: each plane has affinity entries of its own, and a
 * client that met the row behind before it was in front would be sent to another endpoint next time.
 *
 * An address that moves from one row to another, as when a port is renamed, moves in one transaction:
 * added in an earlier one, it would be deleted by the later one.
 */
export function goingFirst(changes: readonly RowChange[]): readonly RowChange[] {
  const fresh = changes.filter(isNewWithAffinity);
  if (fresh.length === 0) return fresh;
  const held = new Set(changes.flatMap(({ before }) => addressesOf(knownRow(before))));
  return fresh.filter(({ after }) => addressesOf(after).every((each) => !held.has(each)));
}

/**
 * The change that rolls another one back. A row that was `unknown` is removed: it is still to be
 * written, and a plane that has no note about it has no kernel objects of it.
 */
export function reversed({ key, id, before, after }: RowChange): RowChange {
  return { key, id, before: after ?? 'absent', after: knownRow(before) };
}

function addressesOf(row: Forwarding | undefined): string[] {
  if (row === undefined) return [];
  const { family, protocol } = row.id;
  return row.frontends.map(({ address, port }) => `${family} ${protocol} ${address ?? ''} ${port}`);
}

function isNewWithAffinity({ before, after }: RowChange): boolean {
  return knownRow(before) === undefined && after !== undefined && after.affinitySeconds > 0;
}
