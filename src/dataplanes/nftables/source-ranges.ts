import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { hostNumber } from '../shared/nft/element-keys.ts';
import type { AllowedRange } from './firewall.ts';
import type { SharedElement } from './row-elements.ts';

/**
 * Source ranges are elements of a hash set, keyed by their list, their prefix length and their
 * prefix, and one rule per prefix length looks the source up there. An interval set would need one
 * rule, but its cost for the kernel grows with all ranges of all Services: with 12,000 of them half
 * a millisecond for each deletion.
 */
const STEP: Readonly<Record<TableFamily, number>> = { ip: 2, ip6: 4 };
const WIDTH: Readonly<Record<TableFamily, number>> = { ip: 32, ip6: 128 };
/** Common prefix lengths come first. */
const USUAL: Readonly<Record<TableFamily, readonly number[]>> = {
  ip: [32, 24, 16, 8],
  ip6: [64, 48, 128, 56, 32],
};

/** Lists have this many bits of a number, and prefix lengths the rest. */
export const SOURCE_LIST_BITS = 24;

/** Every prefix length that has a rule, in the order of the rules. Others are split into the next. */
export function prefixLevels(family: TableFamily): readonly number[] {
  const count = WIDTH[family] / STEP[family];
  const all = Array.from({ length: count }, (_, index) => WIDTH[family] - index * STEP[family]);
  return [...new Set([...USUAL[family], ...all])];
}

/** The lookup key of a source: the list's number with the prefix length in its highest byte. */
export function levelBits(level: number): number {
  return (level << SOURCE_LIST_BITS) >>> 0;
}

/** The elements of a list of ranges. */
export function rangeElements(sources: {
  readonly number: number;
  readonly ranges: readonly AllowedRange[];
}): SharedElement[] {
  const elements: SharedElement[] = [];
  for (const { first, prefixLength } of sources.ranges) {
    const level = levelOf(prefixLength, first.length === 4 ? 'ip' : 'ip6');
    const list = hostNumber((sources.number | levelBits(level)) >>> 0);
    for (const prefix of splitPrefix(first, prefixLength, level)) {
      elements.push({ set: 'source-ranges', key: list + prefix });
    }
  }
  return elements;
}

/** The first level that is not shorter. */
export function levelOf(prefixLength: number, family: TableFamily): number {
  const step = STEP[family];
  return Math.max(step, Math.ceil(prefixLength / step) * step);
}

/**
 * All prefixes of a length within a shorter one. They differ in one byte only, because of the
 * levels.
 */
function splitPrefix(first: Binary, from: number, to: number): Binary[] {
  if (from === to) return [first];
  const at = (to - 1) >> 3;
  const shift = 7 - ((to - 1) & 7);
  const byte = first.charCodeAt(at);
  const [head, tail] = [first.slice(0, at), first.slice(at + 1)];
  return Array.from({ length: 2 ** (to - from) }, (_, index) => {
    return head + String.fromCharCode(byte | (index << shift)) + tail;
  });
}
