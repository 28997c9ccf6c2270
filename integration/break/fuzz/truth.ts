import { isDeepStrictEqual } from 'node:util';
import type { Event, Wire } from './encodings.ts';
import type { Script } from './scripted-server.ts';
import { TEMPLATES } from './templates.ts';
import type { World } from './world.ts';

type StreamKind = 'service' | 'slice';

/** Sent last: a reader that has it has read everything before it. */
export const MARKER = 'shop/marker';
const CLEAN_VERSION = '900000';
/** Resource version of everything sent before the server sends valid streams. */
export const BEFORE_CLEAN = '899998';

/** All of the templates, each changed since a reader may have received it. */
function trueObjects(kind: StreamKind): object[] {
  return TEMPLATES[kind].map((text) => {
    const object = JSON.parse(text) as { metadata: object };
    return { ...object, metadata: { ...object.metadata, resourceVersion: '899999' } };
  });
}

/** The answer of a server in order, in which what was read before is too old to go on from. */
export function cleanAnswer(kind: StreamKind, query: URLSearchParams, wire: Wire): Script {
  const objects = trueObjects(kind);
  const { mediaType } = wire.encoding;
  if (!query.has('watch')) {
    const list = { metadata: { resourceVersion: CLEAN_VERSION }, items: objects };
    return { chunks: [wire.list(kind, list)], ends: true, mediaType };
  }
  const framed = (events: readonly Event[]): Buffer =>
    Buffer.concat(events.map((event) => wire.framed(wire.event(kind, event))));
  const endless = (events: readonly Event[]): Script => inPieces(framed(events), mediaType);
  if (query.has('sendInitialEvents')) {
    return endless([...objects.map(added), initialEnd(), marker(kind)]);
  }
  if (query.get('resourceVersion') === CLEAN_VERSION) return endless([marker(kind)]);
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  return { chunks: [framed([{ type: 'ERROR', object: status }])], ends: true, mediaType };
}

/** Whether the world has exactly the objects of the server. */
export function isTruth(kind: StreamKind, { told }: World): boolean {
  const names = trueObjects(kind).map((object) => {
    const { metadata } = object as { metadata: { namespace: string; name: string } };
    return `${metadata.namespace}/${metadata.name}`;
  });
  return isDeepStrictEqual([...told[kind].keys()].sort(), [...names, MARKER].sort());
}

/** Cut across the events: also what is sound arrives in pieces. */
function inPieces(bytes: Buffer, mediaType: string): Script {
  const middle = bytes.length >> 1;
  return { chunks: [bytes.subarray(0, middle), bytes.subarray(middle)], ends: false, mediaType };
}

function added(object: object): Event {
  return { type: 'ADDED', object };
}

function initialEnd(): Event {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: CLEAN_VERSION, annotations } },
  };
}

function marker(kind: StreamKind): Event {
  const [namespace, name] = MARKER.split('/');
  const metadata = { namespace, name, resourceVersion: '900001' };
  return added(kind === 'slice' ? { metadata, addressType: 'IPv4' } : { metadata });
}
