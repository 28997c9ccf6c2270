import type { Kind } from '../../../src/cluster/object-kinds.ts';
import type { Encoding } from '../../../src/cluster/wire/encoding.ts';
import { JSON_ENCODING } from '../../../src/cluster/wire/json-encoding.ts';
import { PROTOBUF_ENCODING } from '../../../src/cluster/wire/protobuf/protobuf-encoding.ts';
import { protobufEvent, protobufFrame, protobufList } from './protobuf-writer.ts';

export type EncodingName = 'json' | 'protobuf';

export interface Event {
  readonly type: string;
  readonly object: unknown;
}

/** How a server writes an encoding, beside how it is read. */
export interface Wire {
  readonly encoding: Encoding;
  event(kind: Kind, event: Event): Buffer;
  list(kind: Kind, list: unknown): Buffer;
  /** An event, or what takes its place, as it is in a stream. */
  framed(event: Buffer): Buffer;
}

export const WIRES: Readonly<Record<EncodingName, Wire>> = {
  json: {
    encoding: JSON_ENCODING,
    event: (_, event) => Buffer.from(JSON.stringify(event)),
    list: (_, list) => Buffer.from(JSON.stringify(list)),
    framed: (event) => Buffer.concat([event, Buffer.from('\n')]),
  },
  protobuf: {
    encoding: PROTOBUF_ENCODING,
    event: protobufEvent,
    list: protobufList,
    framed: protobufFrame,
  },
};
