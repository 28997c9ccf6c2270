import type { TableFamily } from './nftables-protocol.ts';
import { u32, udata } from './userdata.ts';

/**
 * A part of a packet that a key is made of: how `nft` writes it, how the kernel and `nft` number
 * its type, how long it is, and how `nft` records its meaning in the user data of a set.
 */
export interface Field {
  readonly text: string;
  /** `nft`'s number of the data type: it decides how elements are printed. */
  readonly dataType: number;
  readonly byteLength: number;
  readonly byteOrder: 'big' | 'host';
  /** Nested user data that lets `nft list` print `typeof`. */
  readonly typeOf: string;
}

const DATA_TYPE = { integer: 4, ipv4: 7, ipv6: 8, protocol: 12, port: 13, mark: 19 } as const;
const BITS_PER_TYPE = 6;

// Numbers of `nft`'s own expressions, protocols and fields, as it writes them into user data;
// taken from what nft 1.0.6 leaves in the kernel (fields.test.ts has the bytes).
const EXPRESSION = { payload: 7, meta: 9, concat: 13, numgen: 23 } as const;
const PROTOCOL = { transport: 11, ip: 12, ip6: 13 } as const;

export const L4_PROTOCOL: Field = meta('meta l4proto', DATA_TYPE.protocol, {
  key: 16,
  byteLength: 1,
});
export const MARK: Field = meta('meta mark', DATA_TYPE.mark, { key: 3, byteLength: 4 });
export const DESTINATION_PORT: Field = payload('th dport', DATA_TYPE.port, {
  protocol: PROTOCOL.transport,
  field: 2,
  byteLength: 2,
});

const SOURCE: Readonly<Record<TableFamily, Field>> = {
  ip: payload('ip saddr', DATA_TYPE.ipv4, { protocol: PROTOCOL.ip, field: 11, byteLength: 4 }),
  ip6: payload('ip6 saddr', DATA_TYPE.ipv6, { protocol: PROTOCOL.ip6, field: 8, byteLength: 16 }),
};
const DESTINATION: Readonly<Record<TableFamily, Field>> = {
  ip: payload('ip daddr', DATA_TYPE.ipv4, { protocol: PROTOCOL.ip, field: 12, byteLength: 4 }),
  ip6: payload('ip6 daddr', DATA_TYPE.ipv6, { protocol: PROTOCOL.ip6, field: 9, byteLength: 16 }),
};

export function sourceAddress(family: TableFamily): Field {
  return SOURCE[family];
}

export function destinationAddress(family: TableFamily): Field {
  return DESTINATION[family];
}

/** A random number; the modulus has no meaning as a type, but `nft` requires one. */
export const SLOT: Field = {
  text: 'numgen random mod 2',
  dataType: DATA_TYPE.integer,
  byteLength: 4,
  byteOrder: 'host',
  typeOf:
    udata(0, u32(EXPRESSION.numgen)) +
    udata(1, udata(0, u32(1)) + udata(1, u32(2)) + udata(2, u32(0))),
};

export function keyText(fields: readonly Field[]): string {
  return fields.map((field) => field.text).join(' . ');
}

/** In a key of several fields each begins at a multiple of four bytes. */
export function paddedLength(field: Field): number {
  return (field.byteLength + 3) & ~3;
}

export function keyLength(fields: readonly Field[]): number {
  const [only] = fields;
  if (fields.length === 1 && only) return only.byteLength;
  return fields.reduce((sum, field) => sum + paddedLength(field), 0);
}

export function dataTypeOf(fields: readonly Field[]): number {
  return fields.reduce((type, field) => type * 2 ** BITS_PER_TYPE + field.dataType, 0);
}

/** The byte order of a key for `nft`: none for one of several fields. */
export function byteOrderOf(fields: readonly Field[]): number {
  const [only] = fields;
  if (fields.length !== 1 || !only) return 0;
  return only.byteOrder === 'big' ? 2 : 1;
}

export function typeOf(fields: readonly Field[]): string {
  const [only] = fields;
  if (fields.length === 1 && only) return only.typeOf;
  const parts = fields.map((field, index) => udata(index, field.typeOf)).join('');
  return udata(0, u32(EXPRESSION.concat)) + udata(1, parts);
}

function payload(
  text: string,
  dataType: number,
  at: { readonly protocol: number; readonly field: number; readonly byteLength: number },
): Field {
  const typeOf =
    udata(0, u32(EXPRESSION.payload)) +
    udata(1, udata(0, u32(at.protocol)) + udata(1, u32(at.field)));
  return { text, dataType, byteLength: at.byteLength, byteOrder: 'big', typeOf };
}

function meta(
  text: string,
  dataType: number,
  field: { readonly key: number; readonly byteLength: number },
): Field {
  const typeOf = udata(0, u32(EXPRESSION.meta)) + udata(1, udata(0, u32(field.key)));
  return { text, dataType, byteLength: field.byteLength, byteOrder: 'host', typeOf };
}
