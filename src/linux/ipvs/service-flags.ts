import * as ipvs from './protocol.ts';

const SCHEDULER_FLAGS = [0x8, 0x10, 0x20] as const;

/** The names that ipvsadm gives the flags of two schedulers, in the order of the bits. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  sh: ['sh-fallback', 'sh-port'],
  mh: ['mh-fallback', 'mh-port'],
};

/** The bits for flags of a scheduler and for persistence. Throws for a flag that there is not. */
export function flagBits(of: {
  readonly schedulerFlags: readonly string[];
  readonly persistenceSeconds: number;
}): number {
  let bits = of.persistenceSeconds > 0 ? ipvs.SVC_F_PERSISTENT : 0;
  for (const flag of of.schedulerFlags) bits |= bitOf(flag);
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
  return names.sort();
}

function plainName(index: number): string {
  return `flag-${index + 1}`;
}
