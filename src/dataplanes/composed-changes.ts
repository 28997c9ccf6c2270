import { type Forwarding, type ServicePortKey, servicePortKey } from '../forwarding/model.ts';
import type { Change } from '../forwarding/table.ts';

export type Rows = Map<ServicePortKey, Forwarding>;

/** Rows that only one of two planes has as it should be, so that the agent names no `before` of them. */
export interface HalfKnown {
  onlyInFront: Rows;
  onlyBehind: Rows;
}

/**
 * New rows with affinity go to the front first: each plane remembers for itself which client stays
 * with which endpoint, and a client that met the row behind before it was in front would be sent
 * elsewhere the next time.
 *
 * An address that one row gives up and another takes, as when a port is renamed, is handed over in one
 * transaction: taken in an earlier one, it would be removed by the later.
 */
export function goingFirst(changes: readonly Change[]): readonly Change[] {
  const fresh = changes.filter(isNewWithAffinity);
  if (fresh.length === 0) return fresh;
  const held = new Set(changes.flatMap(({ before }) => (before ? addressesOf(before) : [])));
  return fresh.filter(({ after }) => !after || addressesOf(after).every((each) => !held.has(each)));
}

function addressesOf({ id: { family, protocol }, frontends }: Forwarding): string[] {
  return frontends.map(({ address, port }) => `${family} ${protocol} ${address ?? ''} ${port}`);
}

function isNewWithAffinity({ before, after }: Change): boolean {
  return before === undefined && after !== undefined && after.affinitySeconds > 0;
}

export function rowsOf(rows: readonly Forwarding[], keys: ReadonlySet<ServicePortKey>): Rows {
  const found: Rows = new Map();
  if (keys.size === 0) return found;
  for (const row of rows) {
    const key = servicePortKey(row.id);
    if (keys.has(key)) found.set(key, row);
  }
  return found;
}

/** For a plane that has found these rows right, and so does not remember what is there of them. */
export function withKnown(changes: readonly Change[], known: Rows): readonly Change[] {
  if (known.size === 0) return changes;
  return changes.map((change) => ({ ...change, before: change.before ?? known.get(change.key) }));
}

/** A row of which was not known what it was is taken away: it is still to be written. */
export function undone({ key, before, after }: Change): Change {
  return { key, before: after, after: before };
}
