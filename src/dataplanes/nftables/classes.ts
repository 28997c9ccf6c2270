import { SECOND_LIST_OFFSET } from './keys.ts';
import type { ClassSet, SetName } from './sets.ts';
import type { AffinityUse, Slots, Where } from './statements.ts';

/**
 * What is done with a frontend's packets, apart from which endpoints it has:
 *
 *   cluster       to the first list; masqueraded unless a pod of this node asks
 *   masquerade    to the first list, always masqueraded
 *   plain         to the first list as it is
 *   local         a pod or the node itself: to the second list; others: to the first, as it is
 *   local-host    the same, where pods cannot be told from others
 *   short         to the second list: where `local` leads to
 */
export type Treatment = keyof typeof TREATMENT_NUMBER;

const TREATMENT_NUMBER = {
  cluster: 1,
  masquerade: 2,
  plain: 3,
  local: 4,
  'local-host': 5,
  short: 6,
} as const;

/**
 * All frontends with the same treatment and the same number of endpoints share one chain, so the
 * number of chains does not grow with Services.
 */
export interface Class {
  readonly where: Where;
  readonly treatment: Treatment;
  /** Endpoints to choose from; 0 where only the second list has some. */
  readonly count: number;
  /** Session affinity; 0: none. */
  readonly stickySeconds: number;
}

const FINE_COUNT_BITS = 10;
const COARSE_COUNT_BITS = 16;
const STICKY = 2 ** 31;
const COARSE = 2 ** 30;
const TREATMENT_OF_STICKY = 2 ** 27;
const TREATMENT_OF_PLAIN = 2 ** 24;
const SECONDS_PER_STEP = 60;

/**
 * The number that stands for a class in the maps: made from the class alone, so that the same
 * Services give the same table whatever was there before.
 *
 *   without affinity   00000ttt cccccccc cccccccc cccccccc      t treatment, c count
 *   with               10tttsss ssssssss sssssscc cccccccc      s seconds
 *   and > 1023         11tttmmm mmmmmmmm cccccccc cccccccc      m minutes, rounded up
 */
export function classId({ treatment, count, stickySeconds }: Class): number {
  const number = TREATMENT_NUMBER[treatment];
  if (stickySeconds === 0) return number * TREATMENT_OF_PLAIN + count;
  const head = STICKY + number * TREATMENT_OF_STICKY;
  if (count < 2 ** FINE_COUNT_BITS) return head + stickySeconds * 2 ** FINE_COUNT_BITS + count;
  const minutes = Math.ceil(stickySeconds / SECONDS_PER_STEP);
  return head + COARSE + minutes * 2 ** COARSE_COUNT_BITS + count;
}

/** The class of a number found in a map; undefined: no number of ours. */
export function classOfId(id: number, where: Where): Class | undefined {
  if (id < STICKY) {
    const treatment = treatmentOfNumber(Math.floor(id / TREATMENT_OF_PLAIN));
    return treatment && { where, treatment, count: id % TREATMENT_OF_PLAIN, stickySeconds: 0 };
  }
  const rest = id % TREATMENT_OF_STICKY;
  const treatment = treatmentOfNumber(Math.floor((id % COARSE) / TREATMENT_OF_STICKY));
  if (!treatment) return undefined;
  const isCoarse = id >= STICKY + COARSE;
  const bits = 2 ** (isCoarse ? COARSE_COUNT_BITS : FINE_COUNT_BITS);
  const steps = Math.floor(rest / bits);
  const stickySeconds = isCoarse ? steps * SECONDS_PER_STEP : steps;
  return { where, treatment, count: rest % bits, stickySeconds };
}

function treatmentOfNumber(number: number): Treatment | undefined {
  const known = Object.entries(TREATMENT_NUMBER).find(([, value]) => value === number);
  return known?.[0] as Treatment | undefined;
}

/** The map in which the number of a class leads to its chain. Two, or the chains would form a loop. */
export function classSetOf(of: Class): ClassSet {
  const isShort = of.treatment === 'short';
  if (of.where === 'service') return isShort ? 'short-classes' : 'classes';
  return isShort ? 'nodeport-short-classes' : 'nodeport-classes';
}

export function whereOfClassSet(set: ClassSet): Where {
  return set.startsWith('nodeport-') ? 'nodeport' : 'service';
}

export function classChain(of: Class): string {
  const prefix = of.where === 'nodeport' ? 'nodeport-' : '';
  const sticky = of.stickySeconds === 0 ? '' : `-sticky-${chainSeconds(of)}`;
  return `${prefix}${of.treatment}-${of.count}${sticky}`;
}

/** The chain that chooses among the endpoints of the first list, shared by the treatments. */
export function pickChain(of: Class): string {
  return classChain(of).replace(of.treatment, 'pick');
}

export function classChainNames(of: Class): readonly string[] {
  return of.treatment === 'short' || of.count === 0
    ? [classChain(of)]
    : [pickChain(of), classChain(of)];
}

/** What the kernel is told for a class of its number: minutes where seconds have no room. */
export function chainSeconds(of: Class): number {
  return classOfId(classId(of), of.where)?.stickySeconds ?? of.stickySeconds;
}

export function slotsOf(of: Class): Slots {
  return { count: of.count, offset: of.treatment === 'short' ? SECOND_LIST_OFFSET : 0 };
}

export function endpointMap(where: Where): SetName {
  return where === 'service' ? 'endpoints' : 'nodeport-endpoints';
}

/** Groups have slots of their own: the list is part of the group, not of the slot. */
export function affinityUse(of: Class): AffinityUse {
  const isShort = of.treatment === 'short';
  const groups: SetName =
    of.where === 'service'
      ? isShort
        ? 'short-affinity-groups'
        : 'affinity-groups'
      : isShort
        ? 'short-affinity-nodeport-groups'
        : 'affinity-nodeport-groups';
  return { where: of.where, groups };
}
