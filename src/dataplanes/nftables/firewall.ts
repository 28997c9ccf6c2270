import { type Cidr, contains, formatCidr, parseCidr } from '../../addresses/cidr.ts';
import type { Family } from '../../forwarding/model.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import type { SharedElement } from './elements.ts';
import { networkNumber } from './keys.ts';
import { binary, prefixMask } from './netlink-printer.ts';

/** A range of a list, which becomes an element once the number of the list is known. */
export interface AllowedRange {
  readonly text: string;
  element(list: number): SharedElement;
}

/** The ranges of a family, sorted, without those that lie within another: the kernel refuses overlaps. */
export function allowedRanges(texts: readonly string[], family: Family): readonly AllowedRange[] {
  const version = family === 'IPv4' ? 4 : 6;
  const ranges = texts
    .map((text) => parseCidr(text.includes('/') ? text : `${text}/${version === 4 ? 32 : 128}`))
    .filter((range): range is Cidr => range?.base.version === version)
    .sort((a, b) => a.prefixLength - b.prefixLength);
  const outermost: Cidr[] = [];
  for (const range of ranges) {
    if (!outermost.some((outer) => contains(outer, range.base))) outermost.push(range);
  }
  return outermost
    .map(allowedRange)
    .sort((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)));
}

/** Services with the same ranges share a list. */
export function listName(ranges: readonly AllowedRange[]): string {
  return `sources ${ranges.map((range) => range.text).join(' ')}`;
}

function allowedRange(range: Cidr): AllowedRange {
  const first = binary(range.base.bytes);
  const last = lastOf(range);
  return {
    text: formatCidr(range),
    element: (list) => ({
      set: 'allowed-sources',
      key: networkNumber(list) + first,
      keyEnd: networkNumber(list) + last,
    }),
  };
}

function lastOf({ base, prefixLength }: Cidr): Binary {
  const mask = prefixMask(prefixLength, base.bytes.length);
  return binary(base.bytes.map((byte, index) => byte | (~mask.charCodeAt(index) & 0xff)));
}
