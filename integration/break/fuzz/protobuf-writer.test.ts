import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import { PROTOBUF_ENCODING } from '../../../src/cluster/wire/protobuf/protobuf-encoding.ts';
import { protobufEvent, protobufFrame, protobufList } from './protobuf-writer.ts';
import { TEMPLATES } from './templates.ts';
import { KINDS } from './world.ts';

it('writes what the decoder reads, for every template', () => {
  const interner = new Interner();
  for (const kind of KINDS) {
    for (const text of TEMPLATES[kind]) {
      const object: unknown = JSON.parse(text);
      const frame = protobufFrame(protobufEvent(kind, { type: 'ADDED', object }));
      const [event] = [...PROTOBUF_ENCODING.events(kind).push(frame)];
      assert.equal(event?.type, 'put');
      const read = 'object' in event ? narrow(kind, event.object, interner) : undefined;
      assert.deepEqual(read, narrow(kind, object, interner));
      assert.ok(read);
    }
  }
});

it('writes lists, bookmarks and errors', () => {
  const metadata = { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } };
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  const frames = [
    { type: 'BOOKMARK', object: { metadata } },
    { type: 'ERROR', object: status },
  ].map((event) => protobufFrame(protobufEvent('slice', event)));
  assert.deepEqual(PROTOBUF_ENCODING.events('slice').push(Buffer.concat(frames)), [
    { type: 'bookmark', resourceVersion: '7', endsInitialEvents: true },
    {
      type: 'error',
      status: { code: 410, reason: 'Expired', message: 'too old', retryAfterMs: undefined },
    },
  ]);
  const items = [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }];
  assert.deepEqual(
    PROTOBUF_ENCODING.readList(protobufList('service', { metadata, items }), 'service'),
    { resourceVersion: '7', next: '', items },
  );
});

it('writes a value of another type with the wire type of that value', () => {
  const port = (value: unknown): unknown => {
    const object = { spec: { ports: [{ port: value }] } };
    const frame = protobufFrame(protobufEvent('service', { type: 'ADDED', object }));
    return JSON.stringify([...PROTOBUF_ENCODING.events('service').push(frame)]);
  };
  assert.match(String(port(80)), /"ports":\[\{"port":80\}\]/);
  for (const odd of ['80', [80], {}, Number.POSITIVE_INFINITY]) {
    assert.match(String(port(odd)), /"ports":\[\{\}\]/);
  }
  assert.match(String(port(-1)), /"port":1844674407370955\d+/);
});
