import { hash } from 'node:crypto';
import { type Cidr, formatCidr, parseCidr } from '../../addresses/cidr.ts';
import type { Family } from '../../forwarding/model.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { networkNumber } from '../shared/nft/element-keys.ts';
import { binary } from '../shared/nft/prefix.ts';

/** A range of a list. */
export class AllowedRange {
  readonly first: Binary;
  readonly last: Binary;
  readonly prefixLength: number;

  constructor(prefix: Prefix) {
    this.first = prefix.first;
    this.last = lastOf(prefix);
    this.prefixLength = prefix.length;
  }

  get text(): string {
    const bytes = Uint8Array.from(this.first, (letter) => letter.charCodeAt(0));
    const version = bytes.length === 4 ? 4 : 6;
    return formatCidr({ base: { version, bytes }, prefixLength: this.prefixLength });
  }
}

export interface SourceList {
  /** Services with the same ranges share a list. */
  readonly name: string;
  readonly ranges: readonly AllowedRange[];
}

/** The lists of source ranges, worked out once for each array of ranges. */
export class SourceLists {
  readonly #known = new WeakMap<readonly string[], SourceList>();

  /** The array must not change afterwards, and must always be asked for in the same family. */
  of(allowedSources: readonly string[], family: Family): SourceList {
    const known = this.#known.get(allowedSources);
    if (known !== undefined) return known;
    const ranges = allowedRanges(allowedSources, family);
    const list = { name: listName(ranges), ranges };
    this.#known.set(allowedSources, list);
    return list;
  }
}

/**
 * The fewest prefixes of a family that hold the same addresses, sorted. They never overlap.
 */
export function allowedRanges(texts: readonly string[], family: Family): readonly AllowedRange[] {
  const version = family === 'IPv4' ? 4 : 6;
  const width = version === 4 ? 32 : 128;
  const prefixes = texts
    .map((text) => parseCidr(text.includes('/') ? text : `${text}/${width}`))
    .filter((range): range is Cidr => range?.base.version === version)
    .map(prefixOf)
    .sort(byAddressThenLength);
  return merged(prefixes).map((prefix) => new AllowedRange(prefix));
}

/** Short for any number of ranges: the name is a key of maps. */
export function listName(ranges: readonly AllowedRange[]): string {
  const content = ranges.map(({ first, last }) => first + last).join('');
  return `sources ${hash('sha256', Buffer.from(content, 'latin1'), 'base64url')}`;
}

interface Prefix {
  readonly first: Binary;
  readonly length: number;
}

function prefixOf({ base, prefixLength }: Cidr): Prefix {
  // Spreading the bytes of each of many thousands takes longer than all the rest.
  const first = base.version === 4 ? networkNumber(ipv4Of(base.bytes)) : binary(base.bytes);
  return { first, length: prefixLength };
}

function ipv4Of(bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => (number << 8) | byte, 0);
}

/** A range comes before those that lie within it. */
function byAddressThenLength(a: Prefix, b: Prefix): number {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  return a.length - b.length;
}

/** For sorted prefixes: drops those within another, and joins two halves into their whole. */
function merged(sorted: readonly Prefix[]): Prefix[] {
  const kept: Prefix[] = [];
  let end: Binary | undefined;
  for (const prefix of sorted) {
    if (end !== undefined && prefix.first <= end) continue;
    end = lastOf(prefix);
    let whole = prefix;
    for (let half = kept.at(-1); half && areHalves(half, whole); half = kept.at(-1)) {
      kept.pop();
      whole = { first: half.first, length: half.length - 1 };
    }
    kept.push(whole);
  }
  return kept;
}

/** Whether the two differ only in the last bit of their prefix. */
function areHalves(lower: Prefix, upper: Prefix): boolean {
  if (lower.length !== upper.length || lower.length === 0) return false;
  const at = (lower.length - 1) >> 3;
  const bit = 0x80 >> ((lower.length - 1) & 7);
  return (
    (lower.first.charCodeAt(at) ^ upper.first.charCodeAt(at)) === bit &&
    lower.first.startsWith(upper.first.slice(0, at))
  );
}

/** The bits beyond the prefix all set. */
function lastOf({ first, length }: Prefix): Binary {
  const whole = length >> 3;
  if (whole === first.length) return first;
  const split = first.charCodeAt(whole) | (0xff >> (length & 7));
  const head = first.slice(0, whole) + String.fromCharCode(split);
  return head + '\xff'.repeat(first.length - whole - 1);
}
