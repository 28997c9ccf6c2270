import * as x from '../../../linux/nftables/expressions.ts';
import { hostNumber } from './element-keys.ts';
import { markText } from './element-text.ts';

/** Any of these. `nft` prints the highest bit alone as a prefix of length one. */
export function bitsText(what: string, bits: number): string {
  if (bits === 2 ** 31) return `${what} != ${markText(0)}/1`;
  return `${what} & ${markText(bits)} != ${markText(0)}`;
}

export function hasBits(load: x.Expression, bits: number): readonly x.Expression[] {
  return [load, maskBits(bits), x.compare(0, 'different', hostNumber(0))];
}

export function lacksBits(load: x.Expression, bits: number): readonly x.Expression[] {
  return [load, maskBits(bits), x.compare(0, 'equal', hostNumber(0))];
}

function maskBits(bits: number): x.Expression {
  return x.bitwise(0, { mask: hostNumber(bits), xor: hostNumber(0) });
}

export function setBits(bits: number): x.Expression {
  return x.bitwise(0, { mask: hostNumber(~bits), xor: hostNumber(bits) });
}
