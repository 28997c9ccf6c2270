import type { Kind } from '../../../src/cluster/object-kinds.ts';
import type { Field, Shape } from '../../../src/cluster/wire/protobuf/message-shape.ts';
import {
  ENVELOPE_SHAPE,
  LIST_SHAPES,
  OBJECT_SHAPES,
  STATUS_SHAPE,
  WATCH_EVENT_SHAPE,
} from '../../../src/cluster/wire/protobuf/shapes.ts';

const WIRE = { varint: 0, eightBytes: 1, counted: 2 } as const;
const MAGIC = Buffer.from('k8s\0', 'latin1');
const NOTHING = Buffer.alloc(0);
const ALL_64_BITS = (1n << 64n) - 1n;
/** Nearly all tags and lengths. */
const ONE_BYTE = Array.from({ length: 128 }, (_, value) => Buffer.of(value));
const MS_PER_S = 1000;

/** An object in its envelope, with the fields that Fairlead decodes. */
function protobufObject(kind: Kind, object: unknown): Buffer {
  const isStatus = isObject(object) && object['kind'] === 'Status';
  return envelope(
    isStatus ? 'Status' : kind,
    message(object, isStatus ? STATUS_SHAPE : OBJECT_SHAPES[kind]),
  );
}

export function protobufList(kind: Kind, list: unknown): Buffer {
  return envelope('List', message(list, LIST_SHAPES[kind]));
}

/** A watch event without the length before it. */
export function protobufEvent(
  kind: Kind,
  { type, object }: { readonly type: string; readonly object: unknown },
): Buffer {
  return message({ type, object: { raw: protobufObject(kind, object) } }, WATCH_EVENT_SHAPE);
}

/** As it is in a stream: the length, then the bytes. */
export function protobufFrame(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function envelope(kind: string, raw: Buffer): Buffer {
  return Buffer.concat([MAGIC, message({ typeMeta: { kind }, raw }, ENVELOPE_SHAPE)]);
}

/** A value of another type than the field's is written as what it is, with the wire type of that. */
function message(value: unknown, { fields }: Shape): Buffer {
  if (!isObject(value)) return NOTHING;
  const parts = fields.flatMap((field, number) =>
    field !== undefined && Object.hasOwn(value, field.name)
      ? fieldParts(number, field, value[field.name])
      : [],
  );
  return Buffer.concat(parts);
}

function fieldParts(number: number, field: Field, value: unknown): Buffer[] {
  if (value === null || value === undefined) return [];
  if (field.isList && Array.isArray(value)) {
    return value.map((item) => valuePart(number, field, item));
  }
  if (field.type.is !== 'texts' || !isObject(value)) return [valuePart(number, field, value)];
  return Object.entries(value).map(([key, text]) =>
    counted(number, Buffer.concat([counted(1, key), plainPart(2, text)])),
  );
}

function valuePart(number: number, { type }: Field, value: unknown): Buffer {
  if (type.is === 'message' && isObject(value)) return counted(number, message(value, type.shape));
  if (type.is === 'time' && typeof value === 'string') return counted(number, time(value));
  return plainPart(number, value);
}

function time(value: string): Buffer {
  const seconds = Math.floor(Date.parse(value) / MS_PER_S);
  return Number.isNaN(seconds) ? Buffer.from(value) : integer(1, seconds);
}

function plainPart(number: number, value: unknown): Buffer {
  if (typeof value === 'boolean') return integer(number, value ? 1 : 0);
  if (Buffer.isBuffer(value) || typeof value === 'string') return counted(number, value);
  if (typeof value !== 'number') return counted(number, JSON.stringify(value) ?? '');
  if (Number.isFinite(value)) return integer(number, Math.trunc(value));
  return Buffer.concat([tag(number, WIRE.eightBytes), Buffer.alloc(8, 0xff)]);
}

function integer(number: number, value: number): Buffer {
  return Buffer.concat([tag(number, WIRE.varint), varint(value)]);
}

function counted(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([tag(number, WIRE.counted), varint(bytes.length), bytes]);
}

function tag(number: number, wireType: number): Buffer {
  return varint(number * 8 + wireType);
}

/** Negative numbers as protobuf has them: in 64 bits. */
function varint(value: number): Buffer {
  const short = ONE_BYTE[value];
  if (short !== undefined) return short;
  const bytes: number[] = [];
  let rest = BigInt(value) & ALL_64_BITS;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
