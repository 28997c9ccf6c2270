import type { NftEvent } from '../../linux/nftables/nftables-events.ts';
import { objectText } from '../shared/rule-events.ts';
import { elementName } from './element-name.ts';
import { isForwarderSet, TABLE_NAME } from './nftables-sets.ts';
import { MANAGED_SETS, type ManagedSet } from './row-elements.ts';

/** Whether an event is about a part of our tables that an inspection compares. */
export function concernsUs({ table, kind, name }: NftEvent): boolean {
  if (table !== TABLE_NAME) return false;
  // Written anew every second, so a change by another process is gone before it could be repaired.
  return !(kind === 'elements' && isForwarderSet(name));
}

/** The objects that an event is about, described. */
export function objectsOf(event: NftEvent): string[] {
  if (event.kind !== 'elements') return [objectText(event)];
  const change = event.change === 'new' ? 'added' : 'deleted';
  const set = event.name as ManagedSet;
  if (!MANAGED_SETS.includes(set)) return [`${change} elements of ${event.family} ${event.name}`];
  return event.elements.map(({ key }) => `${change} ${elementName(event.family, set, key)}`);
}
