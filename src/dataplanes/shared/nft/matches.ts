import { parseCidr } from '../../../addresses/cidr.ts';
import { formatIp } from '../../../addresses/ip.ts';
import * as x from '../../../linux/nftables/expressions.ts';
import { sourceAddress } from '../../../linux/nftables/fields.ts';
import type { TableFamily } from '../../../linux/nftables/protocol.ts';
import type { PodDetection } from '../../contract.ts';
import { binary, prefixMask } from './prefix.ts';

const NAME_BYTES = 16;

/** Whether a packet is of a pod of this node. */
export function matchPod(
  ...[by, is, family]: [PodDetection, boolean, TableFamily]
): readonly x.Expression[] {
  const how = is ? 'equal' : 'different';
  if (by.by === 'cidr') return [x.loadSourceAddress(family, 0), ...compareRange(by.cidr, how)];
  const name = by.by === 'interface' ? wholeName(by.name) : by.prefix;
  return [x.loadInterfaceName(0), x.compare(0, how, name)];
}

/** `name`: with `*` at the end for anything. */
export function matchInterface(name: string): readonly x.Expression[] {
  return [x.loadInterfaceName(0), x.compare(0, 'equal', nameBytes(name))];
}

/** The whole of a name, or how it begins. */
function nameBytes(name: string): string {
  return name.endsWith('*') ? name.slice(0, -1) : wholeName(name);
}

function wholeName(name: string): string {
  return name.padEnd(NAME_BYTES, '\0');
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

export function podText(...[by, is, family]: [PodDetection, boolean, TableFamily]): string {
  const not = is ? '' : '!= ';
  if (by.by === 'cidr') return `${sourceAddress(family).text} ${not}${rangeText(by.cidr)}`;
  const name = by.by === 'interface' ? by.name : `${by.prefix}*`;
  return `iifname ${not}"${name}"`;
}

/** A range as `nft` lists it: a single address without its length. */
export function rangeText(text: string): string {
  const range = parseCidr(text);
  if (!range) return text;
  const address = formatIp(range.base);
  const isSingle = range.prefixLength === range.base.bytes.length * 8;
  return isSingle ? address : `${address}/${range.prefixLength}`;
}
