/**
 * The number of slots that a draw is made from. A modulus is part of a rule, and a chain for every
 * number of endpoints would let any user create thousands of chains. So small lists have their
 * exact size, and larger ones share steps of a half: a draw beyond the end of the list is repeated.
 */
const EXACT_UP_TO = 16;

/** At most a third of the slots of a size are empty: four draws in a row miss in 1.2 % of cases. */
export const DRAWS = 4;

/** The smallest size that has room for the list. */
export function sizeFor(count: number): number {
  if (count <= EXACT_UP_TO) return count;
  const power = 2 ** Math.ceil(Math.log2(count));
  const between = (power / 4) * 3;
  return count <= between ? between : power;
}

/** The next smaller size: every list of `size` has at least one slot more than this. */
export function sizeBelow(size: number): number {
  if (size <= EXACT_UP_TO) return size - 1;
  const power = 2 ** Math.floor(Math.log2(size));
  return size === power ? (power / 4) * 3 : power;
}

export function isExact(size: number): boolean {
  return size <= EXACT_UP_TO;
}

/** All sizes up to one, in order. */
export function sizesUpTo(largest: number): number[] {
  const sizes: number[] = [];
  for (let size = 1; size <= largest; size = sizeFor(size + 1)) sizes.push(size);
  return sizes;
}
