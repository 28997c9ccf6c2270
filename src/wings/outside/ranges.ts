import { type Cidr, contains, formatCidr, parseCidr, parseCidrs } from '../../addresses/cidr.ts';
import { formatIp } from '../../addresses/ip.ts';

/** A wider range is not that of one pod network. */
const LEAST_PREFIX_LENGTH = 8;

/**
 * The smallest range of each family that covers all of the given ones: those of nodes are parts of
 * one. None for a family whose ranges share too little.
 */
export function coveringRanges(texts: readonly string[]): readonly string[] {
  const byFamily = Map.groupBy(parseCidrs(texts), ({ base }) => base.version);
  return [...byFamily.values()]
    .map(covering)
    .filter(({ prefixLength }) => prefixLength >= LEAST_PREFIX_LENGTH)
    .map(formatCidr);
}

function covering(ranges: readonly Cidr[]): Cidr {
  const [first, ...others] = ranges.toSorted((a, b) => a.prefixLength - b.prefixLength);
  if (first === undefined) throw new RangeError('no range to cover');
  let cover = first;
  while (!others.every(({ base }) => contains(cover, base))) cover = shortened(cover);
  return cover;
}

function shortened({ base, prefixLength }: Cidr): Cidr {
  const shorter = parseCidr(`${formatIp(base)}/${prefixLength - 1}`);
  if (shorter === undefined) throw new RangeError('ranges of different families');
  return shorter;
}

export interface OwnAddress {
  readonly interface: string;
  /** With its prefix length. */
  readonly cidr: string;
}

export interface Overlap {
  readonly range: string;
  readonly with: OwnAddress;
}

/** Ranges of the cluster that share addresses with a network that this machine is connected to. */
export function overlaps(
  ranges: readonly string[],
  own: readonly OwnAddress[],
): readonly Overlap[] {
  return ranges.flatMap((range) =>
    own.filter(({ cidr }) => doOverlap(range, cidr)).map((address) => ({ range, with: address })),
  );
}

function doOverlap(one: string, other: string): boolean {
  const [a, b] = [parseCidr(one), parseCidr(other)];
  if (a === undefined || b === undefined) return false;
  return contains(a, b.base) || contains(b, a.base);
}
