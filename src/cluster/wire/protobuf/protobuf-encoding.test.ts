import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Interner } from '../../narrow/interner.ts';
import { narrow } from '../../narrow/narrow.ts';
import type { Kind } from '../../object-kinds.ts';
import { envelope, eventFrame, writeMessage } from '../../testing/protobuf.ts';
import type { WatchEvent } from '../../watch-event.ts';
import { PROTOBUF_ENCODING } from './protobuf-encoding.ts';
import { LIST_SHAPES, STATUS_SHAPE } from './shapes.ts';

const SLICE = {
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    resourceVersion: '7',
    labels: { 'kubernetes.io/service-name': 'web' },
  },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.0.0.1'], conditions: { ready: false, serving: true }, nodeName: 'node1' },
    { addresses: ['10.0.0.2'], conditions: {}, hints: { forZones: [{ name: 'zone-ü' }] } },
  ],
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
};

function read(bytes: Buffer, kind: Kind = 'slice'): (WatchEvent | undefined)[] {
  return [...PROTOBUF_ENCODING.events(kind).push(bytes)];
}

describe('PROTOBUF_ENCODING, watch events', () => {
  it('decodes into the same objects as JSON', () => {
    assert.deepEqual(read(eventFrame('slice', 'MODIFIED', SLICE)), [
      { type: 'put', object: SLICE },
    ]);
    assert.equal(read(eventFrame('slice', 'DELETED', SLICE))[0]?.type, 'delete');
  });

  it('marks the end of the initial events', () => {
    const annotations = { 'k8s.io/initial-events-end': 'true', other: 'left out' };
    const object = { metadata: { resourceVersion: '12', annotations } };
    assert.deepEqual(read(eventFrame('service', 'BOOKMARK', object), 'service'), [
      { type: 'bookmark', resourceVersion: '12', endsInitialEvents: true },
    ]);
  });

  it('decodes a Status', () => {
    const status = { message: 'too old', reason: 'Expired', code: 410 };
    assert.deepEqual(read(eventFrame('Status', 'ERROR', status)), [
      { type: 'error', status: { ...status, retryAfterMs: undefined } },
    ]);
  });

  it('returns undefined for an undecodable event, and decodes the next', () => {
    const good = eventFrame('slice', 'ADDED', SLICE);
    const bad = Buffer.from(good);
    bad.writeUInt8(0xff, 12);
    const [first, second] = read(Buffer.concat([bad, good]));
    assert.equal(first, undefined);
    assert.equal(second?.type, 'put');
  });
});

describe('PROTOBUF_ENCODING, any input', () => {
  it('never throws, and its result can be narrowed', () => {
    const good = eventFrame('slice', 'ADDED', SLICE);
    const damage = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 });
    fc.assert(
      fc.property(damage, fc.nat(good.length), (changes, length) => {
        const bytes = Buffer.from(good);
        for (const [place, value] of changes) bytes[place] = value;
        for (const event of read(bytes.subarray(0, length))) {
          if (event?.type === 'put') narrow('slice', event.object, new Interner());
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws on random bytes as a list or a Status', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (random) => {
        const bytes = envelope('ServiceList', Buffer.from(random));
        PROTOBUF_ENCODING.readList(bytes, 'service');
        PROTOBUF_ENCODING.readList(Buffer.from(random), 'service');
        PROTOBUF_ENCODING.readStatus(envelope('Status', Buffer.from(random)));
      }),
      { numRuns: 2_000 },
    );
  });
});

it('reads a page of a list, and a status', () => {
  const metadata = { resourceVersion: '99', continue: 'further' };
  const list = writeMessage({ metadata, items: [SLICE, SLICE] }, LIST_SHAPES.slice);
  assert.deepEqual(PROTOBUF_ENCODING.readList(envelope('EndpointSliceList', list), 'slice'), {
    resourceVersion: '99',
    next: 'further',
    items: [SLICE, SLICE],
  });
  const status = { code: 429, message: 'later', details: { retryAfterSeconds: 3 } };
  const body = envelope('Status', writeMessage(status, STATUS_SHAPE));
  assert.deepEqual(PROTOBUF_ENCODING.readStatus(body), {
    code: 429,
    message: 'later',
    reason: '',
    retryAfterMs: 3000,
  });
});
