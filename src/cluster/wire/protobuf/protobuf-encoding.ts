import { arrayAt, recordAt, textAt } from '../../json.ts';
import type { Kind } from '../../kinds.ts';
import { readStatus, readWatchEvent, type WatchEvent } from '../../watch-event.ts';
import type { Encoding, EventReader, RawList } from '../encoding.ts';
import { FrameSplitter } from './frames.ts';
import { type Message, MessageReader } from './message-reader.ts';
import type { Shape } from './shape.ts';
import {
  ENVELOPE_SHAPE,
  LIST_SHAPES,
  OBJECT_SHAPES,
  STATUS_SHAPE,
  WATCH_EVENT_SHAPE,
} from './shapes.ts';

export const PROTOBUF_ENCODING: Encoding = {
  mediaType: 'application/vnd.kubernetes.protobuf',
  readList,
  events: readFrames,
  readStatus: (body) => readStatus(unwrap(new MessageReader(), body, STATUS_SHAPE)),
};

/** Magic bytes of the encoding. */
const MAGIC = Buffer.from('k8s\0', 'latin1').readUInt32BE();
const MAGIC_BYTES = 4;

/** The object in its envelope, which says whether it is a Status instead. */
function unwrap(reader: MessageReader, bytes: unknown, shape: Shape): Message | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length < MAGIC_BYTES) return undefined;
  if (bytes.readUInt32BE() !== MAGIC) return undefined;
  const envelope = reader.read(bytes, ENVELOPE_SHAPE, MAGIC_BYTES);
  if (envelope === undefined || !Buffer.isBuffer(envelope['raw'])) return undefined;
  const isStatus = textAt(recordAt(envelope, 'typeMeta'), 'kind') === 'Status';
  return reader.read(envelope['raw'], isStatus ? STATUS_SHAPE : shape);
}

function readList(body: Buffer, kind: Kind): RawList | undefined {
  const list = unwrap(new MessageReader(), body, LIST_SHAPES[kind]);
  if (list === undefined) return undefined;
  const metadata = recordAt(list, 'metadata');
  return {
    resourceVersion: textAt(metadata, 'resourceVersion'),
    next: textAt(metadata, 'continue'),
    items: arrayAt(list, 'items'),
  };
}

function readFrames(kind: Kind): EventReader {
  const frames = new FrameSplitter();
  const reader = new MessageReader();
  const readFrame = (frame: Buffer): WatchEvent | undefined => {
    const event = reader.read(frame, WATCH_EVENT_SHAPE);
    if (event === undefined) return undefined;
    const object = unwrap(reader, recordAt(event, 'object')['raw'], OBJECT_SHAPES[kind]);
    return object === undefined ? undefined : readWatchEvent({ type: event['type'], object });
  };
  return {
    push: (chunk) => frames.push(chunk).map((frame) => frame && readFrame(frame)),
  };
}
