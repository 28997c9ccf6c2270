import { isDeepStrictEqual } from 'node:util';
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
export function cleanAnswer(kind: StreamKind, query: URLSearchParams): Script {
  const objects = trueObjects(kind);
  if (!query.has('watch')) {
    const list = { metadata: { resourceVersion: CLEAN_VERSION }, items: objects };
    return { chunks: [Buffer.from(JSON.stringify(list))], ends: true };
  }
  if (query.has('sendInitialEvents')) {
    return endless([...objects.map((object) => added(object)), initialEnd(), marker(kind)]);
  }
  if (query.get('resourceVersion') === CLEAN_VERSION) return endless([marker(kind)]);
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  return {
    chunks: [Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)],
    ends: true,
  };
}

/** Whether the world has exactly the objects of the server. */
export function isTruth(kind: StreamKind, { told }: World): boolean {
  const names = trueObjects(kind).map((object) => {
    const { metadata } = object as { metadata: { namespace: string; name: string } };
    return `${metadata.namespace}/${metadata.name}`;
  });
  return isDeepStrictEqual([...told[kind].keys()].sort(), [...names, MARKER].sort());
}

function endless(lines: readonly object[]): Script {
  // Cut across the lines: also what is sound arrives in pieces.
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const middle = bytes.length >> 1;
  return { chunks: [bytes.subarray(0, middle), bytes.subarray(middle)], ends: false };
}

function added(object: object): object {
  return { type: 'ADDED', object };
}

function initialEnd(): object {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: CLEAN_VERSION, annotations } },
  };
}

function marker(kind: StreamKind): object {
  const [namespace, name] = MARKER.split('/');
  const metadata = { namespace, name, resourceVersion: '900001' };
  return added(kind === 'slice' ? { metadata, addressType: 'IPv4' } : { metadata });
}
