import type { Binary } from '../../linux/nftables/userdata.ts';

/** How many bits the first and the last address of a range have in common. */
export function prefixLengthBetween(first: Binary, last: Binary): number {
  for (let i = 0; i < first.length; i++) {
    const difference = first.charCodeAt(i) ^ last.charCodeAt(i);
    if (difference !== 0) return i * 8 + Math.clz32(difference) - 24;
  }
  return first.length * 8;
}
