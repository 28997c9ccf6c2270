import * as x from '../../../linux/nftables/expressions.ts';
import { destinationAddress, keyText, sourceAddress } from '../../../linux/nftables/fields.ts';
import type { TableFamily } from '../../../linux/nftables/nftables-protocol.ts';
import { frontendFields, hostNumber } from './element-keys.ts';
import { markText } from './element-text.ts';
import type { Clause } from './nft-rule.ts';

/** What a lookup compares: fields of a packet in registers. */
export interface PacketKey {
  readonly text: string;
  readonly load: readonly x.Expression[];
  /** Where it begins. */
  readonly at: number;
  /** The first register after it that is free for what is found. */
  readonly next: number;
}

/** (mark & mask) ^ xor, where no bit is in both. */
export interface MarkChange {
  readonly mask: number;
  readonly xor: number;
}

/**
 * Kept free for the packet's own mark. `nft` 1.0.6 aborts on a rule in which the result of one
 * lookup is the key of another; passing it through the mark, and putting the packet's own back at
 * once, gives the value a name. The mark must be restored before any lookup that can fail, or the
 * packet goes on with ours.
 */
const SAVED_MARK = 15;
const RESTORED = 'meta mark set meta mark';

export function addressWords(family: TableFamily): number {
  return family === 'ip' ? 1 : 4;
}

export function packetFrontend(family: TableFamily): PacketKey {
  const port = addressWords(family);
  return {
    text: keyText(frontendFields(family)),
    load: [
      x.loadDestinationAddress(family, 0),
      x.loadL4Protocol(port),
      x.loadDestinationPort(port + 1),
    ],
    at: 0,
    next: port + 2,
  };
}

/** Source and destination. */
export function packetAddresses(family: TableFamily): PacketKey {
  const words = addressWords(family);
  return {
    text: keyText([sourceAddress(family), destinationAddress(family)]),
    load: [x.loadSourceAddress(family, 0), x.loadDestinationAddress(family, words)],
    at: 0,
    next: 2 * words,
  };
}

export function isIn(key: PacketKey, set: string): Clause {
  return { text: `${key.text} @${set}`, expressions: [...key.load, x.lookup(set, key.at)] };
}

/** Looks up a mark, changes it and keeps it in registers; in the text it is the packet mark. */
export function find(
  key: PacketKey,
  map: string,
  { to, change }: { readonly to: readonly number[]; readonly change?: MarkChange | undefined },
): Clause {
  const changed = change === undefined ? '' : ` ${changeText(change)}`;
  return {
    text: `meta mark set ${key.text} map @${map}${changed} ${RESTORED}`,
    expressions: [...key.load, x.lookup(map, key.at, key.next), ...named(key.next, to, change)],
  };
}

/** Copies a register to others through the packet mark, which is as it was afterwards. */
function named(
  from: number,
  to: readonly number[],
  change: MarkChange | undefined,
): readonly x.Expression[] {
  const changed = change && { mask: hostNumber(change.mask), xor: hostNumber(change.xor) };
  return [
    x.loadMark(SAVED_MARK),
    x.setMark(from),
    // Changed in the packet mark as well: `nft` cannot print bit operations on the result of a map.
    ...(changed ? [x.loadMark(from), x.bitwise(from, changed), x.setMark(from)] : []),
    ...to.map((register) => x.loadMark(register)),
    x.setMark(SAVED_MARK),
  ];
}

/** As `nft` prints it. */
function changeText({ mask, xor }: MarkChange): string {
  const kept = (mask | xor) >>> 0;
  const and = kept === 0xffff_ffff ? '' : ` & ${markText(kept)}`;
  const or = xor === 0 ? '' : ` | ${markText(xor)}`;
  return `meta mark set meta mark${and}${or}`;
}
