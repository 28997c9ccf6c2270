import { groupNumber, LIST_MASK, type ListOf, type Way } from './groups.ts';
import type { ClassSet, Where } from './nftables-sets.ts';

/**
 * The treatment of the packets of a group, independent of its endpoints:
 *
 *   cluster       to its list; masqueraded unless the client is a pod of this node
 *   masquerade    to its list, always masqueraded
 *   plain         to its list as it is
 *   local         a pod or the node itself: to the cluster list; others: to its list, as it is
 *   local-host    the same, where pods cannot be detected
 *   short         to the cluster list: where `local` leads to
 *   pick          to its list, nothing else: when a client cannot be stored
 *   choose        stores an endpoint of its list for the client, and translates nothing yet
 */
export type Treatment = keyof typeof TREATMENT_NUMBER;

export const TREATMENT_NUMBER = {
  pick: 0,
  cluster: 1,
  masquerade: 2,
  plain: 3,
  local: 4,
  'local-host': 5,
  short: 6,
  choose: 7,
} as const;

/**
 * All groups with the same treatment and size share one chain, so the number of chains does not
 * grow with Services. With affinity the time-out takes the place of the size.
 */
export interface Class {
  readonly where: Where;
  readonly treatment: Treatment;
  readonly listOf: ListOf;
  /** Slots to draw from (sizes.ts); 0 where only the second list has some, or with affinity. */
  readonly size: number;
  /** A step of `timeOutStep`; 0: no affinity. */
  readonly stickySeconds: number;
}

const STICKY = 2 ** 31;
const TREATMENT_BITS = 2 ** 24;

/**
 * The number that stands for a class in the maps: derived from the class alone, so that the same
 * Services give the same table from any earlier state.
 *
 *   00000ttt ssssssss ssssssss ssssssss      t treatment, s size
 *   10000ttt ssssssss ssssssss ssssssss      with affinity: s seconds
 */
export function classId({ treatment, size, stickySeconds }: Class): number {
  const number = TREATMENT_NUMBER[treatment] * TREATMENT_BITS;
  return stickySeconds === 0 ? number + size : STICKY + number + stickySeconds;
}

/** The class of a number found in a map; undefined: no number of ours. */
export function classOfId(id: number, set: ClassSet): Class | undefined {
  const rest = id % STICKY;
  const treatment = treatmentOfNumber(Math.floor(rest / TREATMENT_BITS));
  if (!treatment) return undefined;
  const low = rest % TREATMENT_BITS;
  const isSticky = id >= STICKY;
  const way = wayOfClassSet(set);
  const amounts = { size: isSticky ? 0 : low, stickySeconds: isSticky ? low : 0 };
  const rowClass: Class = { ...way, treatment, ...amounts };
  const isOfWay = isDraw(treatment) || (treatment === 'short') === (way.listOf === 'cluster');
  return isOfWay && classSetOf(rowClass) === set ? rowClass : undefined;
}

/** Classes that only draw an endpoint. */
function isDraw(treatment: Treatment): boolean {
  return treatment === 'pick' || treatment === 'choose';
}

function treatmentOfNumber(number: number): Treatment | undefined {
  const known = Object.entries(TREATMENT_NUMBER).find(([, value]) => value === number);
  return known?.[0] as Treatment | undefined;
}

/**
 * The map in which the number of a class leads to its chain. One for each level, because the kernel
 * takes a map that leads back to a chain which uses it for a loop.
 */
export function classSetOf({ where, treatment, listOf }: Class): ClassSet {
  const kind = isDraw(treatment) ? 'draw-chains' : 'class-chains';
  const short = listOf === 'cluster' ? 'short-' : '';
  return `${where === 'nodeport' ? 'nodeport-' : ''}${short}${kind}`;
}

/** Names a class among all of a table. */
export function classPlace(rowClass: Class): string {
  return `${classSetOf(rowClass)} ${classId(rowClass)}`;
}

export function wayOfClassSet(set: ClassSet): Way {
  return {
    where: set.startsWith('nodeport-') ? 'nodeport' : 'service',
    listOf: set.includes('short-') ? 'cluster' : 'own',
  };
}

export function classChain(rowClass: Class): string {
  const { treatment, size, stickySeconds } = rowClass;
  if (treatment === 'pick') return pickChain(rowClass, size);
  if (treatment === 'choose') return `${prefixOf(rowClass)}choose/${size}`;
  if (treatment === 'short') {
    return stickySeconds > 0 ? stickyChain(rowClass, stickySeconds) : pickChain(rowClass, size);
  }
  const amount = stickySeconds > 0 ? `sticky/${stickySeconds}` : size;
  return `${prefixOf(rowClass)}${treatment}/${amount}`;
}

/** The chain that draws an endpoint, shared by the treatments. */
export function pickChain(way: Way, size: number): string {
  return way.listOf === 'own' ? `${prefixOf(way)}pick/${size}` : `${prefixOf(way)}${size}`;
}

/** The chain that sends a client where it was sent before, shared by the treatments. */
export function stickyChain(way: Way, seconds: number): string {
  return `${prefixOf(way)}sticky/${seconds}`;
}

function prefixOf({ where, listOf }: Way): string {
  return `${where === 'nodeport' ? 'nodeport/' : ''}${listOf === 'cluster' ? 'short/' : ''}`;
}

export function classChainNames(rowClass: Class): readonly string[] {
  const own = classChain(rowClass);
  if (isDraw(rowClass.treatment) || rowClass.treatment === 'short') return [own];
  if (rowClass.stickySeconds > 0) return [stickyChain(rowClass, rowClass.stickySeconds), own];
  return rowClass.size === 0 ? [own] : [pickChain(rowClass, rowClass.size), own];
}

/** Turns the number of a group into that of the entry for its next step. */
export function groupChange(
  treatment: 'short' | 'pick' | 'choose',
  listOf: ListOf,
): { readonly mask: number; readonly xor: number } {
  return { mask: LIST_MASK[listOf], xor: groupNumber(TREATMENT_NUMBER[treatment], 0) };
}
