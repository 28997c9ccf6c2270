import { parseCidr } from '../../../addresses/cidr.ts';
import { formatIp } from '../../../addresses/ip.ts';
import * as x from '../../../linux/nftables/expressions.ts';
import type { Binary } from '../../../linux/nftables/userdata.ts';

export function prefixMask(prefixLength: number, byteLength: number): Binary {
  return binary(
    Uint8Array.from({ length: byteLength }, (_, index) => {
      const bits = Math.min(8, Math.max(0, prefixLength - index * 8));
      return (0xff << (8 - bits)) & 0xff;
    }),
  );
}

export function binary(bytes: Uint8Array): Binary {
  return String.fromCharCode(...bytes);
}

/** Compares the address in register 0. */
export function compareRange(text: string, is: 'equal' | 'different'): readonly x.Expression[] {
  const range = parseCidr(text);
  if (!range) throw new RangeError(`'${text}' is no range of addresses`);
  const { bytes } = range.base;
  const base = binary(bytes);
  if (range.prefixLength === bytes.length * 8) return [x.compare(0, is, base)];
  const mask = prefixMask(range.prefixLength, bytes.length);
  return [x.bitwise(0, { mask, xor: '\0'.repeat(bytes.length) }), x.compare(0, is, base)];
}

/** A range as `nft` lists it: a single address without its length. */
export function rangeText(text: string): string {
  const range = parseCidr(text);
  if (!range) return text;
  const address = formatIp(range.base);
  const isSingle = range.prefixLength === range.base.bytes.length * 8;
  return isSingle ? address : `${address}/${range.prefixLength}`;
}
