import type { Kind } from '../object-kinds.ts';
import type { Field, Shape } from '../wire/protobuf/message-shape.ts';
import {
  ENVELOPE_SHAPE,
  OBJECT_SHAPES,
  STATUS_SHAPE,
  WATCH_EVENT_SHAPE,
} from '../wire/protobuf/shapes.ts';

/**
 * Encodes messages as an API server would, with the same field numbers that the decoder uses: only
 * a real server can show whether the numbers are right.
 */
export function writeMessage(value: Readonly<Record<string, unknown>>, shape: Shape): Buffer {
  return Buffer.concat(
    shape.fields.flatMap((field, number) => {
      const given = field === undefined ? undefined : value[field.name];
      if (field === undefined || given === undefined) return [];
      const items = field.isList ? (given as unknown[]) : [given];
      return items.flatMap((item) => writeField(number, field, item));
    }),
  );
}

/** An event of a watch, with the length before it. */
export function eventFrame(kind: Kind | 'Status', type: string, object: object): Buffer {
  const shape = kind === 'Status' ? STATUS_SHAPE : OBJECT_SHAPES[kind];
  const wrapped = envelope(kind, writeMessage({ ...object }, shape));
  const event = writeMessage({ type, object: { raw: wrapped } }, WATCH_EVENT_SHAPE);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

export function envelope(kind: string, raw: Buffer): Buffer {
  const content = writeMessage({ typeMeta: { kind }, raw }, ENVELOPE_SHAPE);
  return Buffer.concat([Buffer.from('k8s\0'), content]);
}

function writeField(number: number, { type }: Field, value: unknown): Buffer[] {
  switch (type.is) {
    case 'integer':
    case 'boolean':
      return [varint(number * 8), varint(Number(value))];
    case 'text':
      return counted(number, Buffer.from(String(value)));
    case 'bytes':
      return counted(number, value as Buffer);
    case 'time':
      return counted(number, Buffer.concat([varint(8), varint(Number(value) / 1000)]));
    case 'message':
      return counted(number, writeMessage(value as Record<string, unknown>, type.shape));
    case 'texts':
      return Object.entries(value as Record<string, string>).flatMap(([key, text]) =>
        counted(
          number,
          Buffer.concat([...counted(1, Buffer.from(key)), ...counted(2, Buffer.from(text))]),
        ),
      );
  }
}

function counted(number: number, bytes: Buffer): Buffer[] {
  return [varint(number * 8 + 2), varint(bytes.length), bytes];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, rest]);
}
