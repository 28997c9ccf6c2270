import type { EndpointList } from '../../forwarding/model.ts';
import type { Where } from './nftables-sets.ts';

/**
 * Numbers that stand for a service port in the maps. A frontend leads to a group, which has
 * the treatment of its connections and their list of endpoints:
 *
 *   tttlrrrr rrrrrrrr rrrrrrrr rrrrrrrr      t treatment, l list (0 cluster, 1 local), r row
 *
 * Without its treatment it is the number of the list, and without the list's bit too, that of the
 * cluster list: a rule masks the bits, so that all frontends of a service port share one list.
 */
export const ROW_BITS = 28;
const LOCAL = 2 ** ROW_BITS;
const TREATMENT = 2 ** (ROW_BITS + 1);

/** Lists of the group itself, or the cluster list of the same service port. */
export type ListOf = 'own' | 'cluster';

/** How a packet comes to a list: by which key, and to which list of its group. */
export interface Way {
  readonly where: Where;
  readonly listOf: ListOf;
}

export const LIST_MASK: Readonly<Record<ListOf, number>> = {
  own: TREATMENT - 1,
  cluster: LOCAL - 1,
};

export function listNumber(row: number, list: EndpointList): number {
  return list === 'local' ? row + LOCAL : row;
}

export function groupNumber(treatmentNumber: number, list: number): number {
  return treatmentNumber * TREATMENT + list;
}

export function rowOfGroup(group: number): number {
  return group % LOCAL;
}
