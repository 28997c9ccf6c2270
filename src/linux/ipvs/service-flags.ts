import * as ipvs from './ipvs-protocol.ts';

const SCHEDULER_FLAGS = [0x8, 0x10, 0x20] as const;

/**
 * Marks virtual servers that Fairlead writes, in bits that IPVS keeps and gives no meaning
 * (`ip_vs_genl_parse_service`, read in 6.1; its own are the lowest six). ipvsadm neither shows nor sets
 * them.
 */
const MARK = 0x464c_0000;
const MARK_MASK = 0xffff_0000;
/** Stands for a missing mark among the flags of a server that was read. */
const UNMARKED = 'unmarked';

export function isMarked(server: { readonly schedulerFlags: readonly string[] }): boolean {
  return !server.schedulerFlags.includes(UNMARKED);
}

/** The names that ipvsadm gives the flags of two schedulers, in the order of the bits. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  sh: ['sh-fallback', 'sh-port'],
  mh: ['mh-fallback', 'mh-port'],
};

/** The mark, and the bits for flags of a scheduler and for persistence. Throws for an unknown flag. */
export function flagBits(server: {
  readonly schedulerFlags: readonly string[];
  readonly persistenceSeconds: number;
}): number {
  let bits = MARK | (server.persistenceSeconds > 0 ? ipvs.SVC_F_PERSISTENT : 0);
  for (const flag of server.schedulerFlags) bits |= bitOf(flag);
  return bits;
}

function bitOf(flag: string): number {
  const names = [...Object.values(NAMED), SCHEDULER_FLAGS.map((_, index) => plainName(index))];
  for (const some of names) {
    const bit = SCHEDULER_FLAGS[some.indexOf(flag)];
    if (bit !== undefined) return bit;
  }
  throw new RangeError(`IPVS has no scheduler flag ${flag}`);
}

/** Sorted. A bit without a name of its own gets a name too: an external change must not go unseen. */
export function flagNames(scheduler: string, bits: number): string[] {
  const names = SCHEDULER_FLAGS.flatMap((bit, index) =>
    (bits & bit) === 0 ? [] : (NAMED[scheduler]?.[index] ?? plainName(index)),
  );
  if ((bits & ipvs.SVC_F_ONEPACKET) !== 0) names.push('ops');
  if ((bits & MARK_MASK) !== MARK) names.push(UNMARKED);
  return names.sort();
}

function plainName(index: number): string {
  return `flag-${index + 1}`;
}
