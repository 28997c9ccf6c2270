import { formatIp } from '../../../addresses/ip.ts';
import { type Field, keyLength, paddedLength } from '../../../linux/nftables/fields.ts';
import type { SetSpec, TableRef } from '../../../linux/nftables/nft-objects.ts';
import type { Binary } from '../../../linux/nftables/userdata.ts';

const PROTOCOL_NAMES: Readonly<Record<number, string>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

/** `ip fairlead map services { 10.96.0.10 . tcp . 80 }`. */
export function elementName(table: TableRef, spec: SetSpec, key: Binary): string {
  const kind = spec.value ? 'map' : 'set';
  return `${table.family} ${table.name} ${kind} ${spec.name} { ${keyTextOf(spec, key)} }`;
}

/** A key as `nft` prints it. */
export function keyTextOf(spec: SetSpec, key: Binary): string {
  return valueTextOf(spec.key, key);
}

/** A value as `nft` prints it. */
export function valueTextOf(fields: readonly Field[], value: Binary): string {
  const parts = split(fields, value);
  return fields.map((field, index) => fieldText(field, parts[index] ?? '')).join(' . ');
}

function fieldText(field: Field, bytes: Binary): string {
  const code = (index: number) => bytes.charCodeAt(index);
  switch (field.text) {
    case 'meta l4proto':
      return PROTOCOL_NAMES[code(0)] ?? String(code(0));
    case 'th dport':
      return String(code(0) * 256 + code(1));
    case 'meta mark':
      return markText(hostNumberOf(bytes));
    case 'numgen random mod 2':
      return String(hostNumberOf(bytes));
    default:
      return addressText(bytes);
  }
}

export function addressText(bytes: Binary): string {
  const numbers = Uint8Array.from(bytes, (letter) => letter.charCodeAt(0));
  return formatIp({ version: numbers.length === 4 ? 4 : 6, bytes: numbers });
}

export function hostNumberOf(bytes: Binary): number {
  let value = 0;
  for (let i = 3; i >= 0; i--) value = value * 256 + bytes.charCodeAt(i);
  return value;
}

/** The bytes of each field, without what fills them up to four. */
export function split(fields: readonly Field[], bytes: Binary): Binary[] {
  if (keyLength(fields) !== bytes.length) return fields.map(() => '');
  let at = 0;
  return fields.map((field) => {
    const part = bytes.slice(at, at + field.byteLength);
    at += paddedLength(field);
    return part;
  });
}

export function markText(mark: number): string {
  return `0x${(mark >>> 0).toString(16).padStart(8, '0')}`;
}
