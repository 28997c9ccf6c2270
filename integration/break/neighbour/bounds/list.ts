import type { FairleadMode } from '../../../../lab/proxies/fairlead-modes.ts';
import { AFFINITY } from './affinity.ts';
import type { Bound } from './bound.ts';
import { CONNECTIONS } from './connections.ts';
import { CONNTRACK } from './conntrack.ts';
import { HEALTH_CLIENTS } from './health-clients.ts';
import { HUGE_ROW } from './huge-row.ts';
import { SLOTS } from './slots.ts';
import { VIRTUAL_SERVERS } from './virtual-servers.ts';

/** The quick ones first. */
export const BOUNDS: readonly Bound[] = [
  HEALTH_CLIENTS,
  CONNECTIONS,
  HUGE_ROW,
  CONNTRACK,
  AFFINITY,
  SLOTS,
  VIRTUAL_SERVERS,
];

/** Those of a mode whose name contains one of the words; without words all. */
export function boundsOf(mode: FairleadMode, only?: string): readonly Bound[] {
  const words = only?.split(',').map((word) => word.trim());
  return BOUNDS.filter(({ name, modes }) => {
    return modes.includes(mode) && (words?.some((word) => name.includes(word)) ?? true);
  });
}
