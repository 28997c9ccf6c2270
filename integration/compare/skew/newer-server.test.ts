import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Interner } from '../../../src/cluster/narrow/interner.ts';
import { narrow } from '../../../src/cluster/narrow/narrow.ts';
import { envelope, writeMessage } from '../../../src/cluster/testing/protobuf.ts';
import { PROTOBUF_ENCODING } from '../../../src/cluster/wire/protobuf/protobuf-encoding.ts';
import { LIST_SHAPES } from '../../../src/cluster/wire/protobuf/shapes.ts';
import type { Forwarding } from '../../../src/forwarding/model.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';

const KNOWN = {
  metadata: { name: 'web', namespace: 'shop', resourceVersion: '7' },
  spec: {
    type: 'NodePort',
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
    ports: [{ name: 'http', port: 80, nodePort: 30_080, protocol: 'TCP' }],
  },
};
const [HTTP] = KNOWN.spec.ports;

function rowsOf(service: object): readonly Forwarding[] {
  const table = new ForwardingTable(unknownNode('node1'));
  const narrowed = narrow('service', service, new Interner());
  assert.ok(narrowed, 'the Service is not left out');
  table.putService(narrowed.object);
  return table.ofService('shop/web');
}

const withSpec = (more: object): object => ({ ...KNOWN, spec: { ...KNOWN.spec, ...more } });

describe('an API server that is newer than Fairlead', () => {
  const EXPECTED = rowsOf(KNOWN);

  it('has a Service to begin with', () => assert.equal(EXPECTED.length, 1));

  for (const [what, service] of Object.entries({
    'a field': { ...KNOWN, later: { all: true }, ...withSpec({ later: ['x'] }) },
    'a traffic distribution': withSpec({ trafficDistribution: 'PreferSameRack' }),
    'an affinity': withSpec({ sessionAffinity: 'Cookie', sessionAffinityConfig: { cookie: {} } }),
    'a traffic policy': withSpec({ internalTrafficPolicy: 'Zone', externalTrafficPolicy: 'Zone' }),
    'a protocol on another port': withSpec({
      ports: [HTTP, { name: 'quic', port: 443, protocol: 'QUIC' }],
    }),
    'a field of a port': withSpec({ ports: [{ ...HTTP, appProtocol: 'x', later: 1 }] }),
  })) {
    it(`may add ${what}, and what is known is served as before`, () => {
      assert.deepEqual(rowsOf(service), EXPECTED);
    });
  }

  it('may add fields to messages in protobuf', () => {
    const list = { metadata: { resourceVersion: '9' }, items: [KNOWN] };
    const bytes = writeMessage(list, LIST_SHAPES.service);
    // Field 1000: a text, then field 1001: a number.
    const later = Buffer.from([0xc2, 0x3e, 3, 0x6e, 0x65, 0x77, 0xc8, 0x3e, 42]);
    const read = PROTOBUF_ENCODING.readList(
      envelope('ServiceList', Buffer.concat([later, bytes, later])),
      'service',
    );
    assert.equal(read?.resourceVersion, '9');
    assert.deepEqual(read?.items, [KNOWN]);
  });
});
