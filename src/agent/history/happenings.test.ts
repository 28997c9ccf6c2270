import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SliceEndpoint, SliceObject } from '../../cluster/objects.ts';
import { endpoint, service, slice, TERMINATING } from '../../forwarding/testing/example-objects.ts';
import { happeningsOf } from './happenings.ts';
import type { Happening } from './history-entry.ts';

type Endpoints = Extract<Happening, { kind: 'endpoints' }>;

function ofSlices(before: SliceObject | undefined, after: SliceObject | undefined) {
  return happeningsOf({ kind: 'slice', key: 'ns/web-1', before, after, stamp: undefined });
}

function movesOf(before: readonly SliceEndpoint[], after: readonly SliceEndpoint[]): unknown {
  const [told] = ofSlices(slice(before), slice(after));
  const moves = (told?.what as Endpoints | undefined)?.moves ?? [];
  return moves.map(({ from, to, endpoints }) => [from, to, endpoints.first.join(' ')]);
}

const many = (count: number, more: Partial<SliceEndpoint> = {}): SliceEndpoint[] =>
  Array.from({ length: count }, (_, i) => endpoint(`10.0.${i >> 8}.${i & 255}`, more));

describe('happeningsOf a slice', () => {
  it('tells who joined, left and became ready or not, in any order of the list', () => {
    const before = [endpoint('10.0.0.1'), endpoint('10.0.0.2'), endpoint('10.0.0.3')];
    const after = [
      endpoint('10.0.0.3', TERMINATING),
      endpoint('10.0.0.4'),
      endpoint('10.0.0.2', { ready: false, serving: false }),
    ];
    assert.deepEqual(movesOf(before, after), [
      ['ready', 'terminating, serving', '10.0.0.3'],
      [undefined, 'ready', '10.0.0.4'],
      ['ready', 'not ready', '10.0.0.2'],
      ['ready', undefined, '10.0.0.1'],
    ]);
  });

  it('tells nothing where only the trigger time changed', () => {
    const endpoints = [endpoint('10.0.0.1')];
    assert.deepEqual(ofSlices(slice(endpoints), slice(endpoints, { triggeredAtMs: 7 })), []);
  });

  it('tells of hints and ports', () => {
    const before = slice([endpoint('10.0.0.1')]);
    const hinted = slice([endpoint('10.0.0.1', { zoneHints: ['a'] })]);
    assert.deepEqual(movesOf(before.endpoints, hinted.endpoints), [['ready', 'ready', '10.0.0.1']]);
    const ports = [{ name: '', protocol: 'TCP', port: 9090 }];
    const [told] = ofSlices(before, slice(before.endpoints, { ports }));
    const fields = [{ field: 'ports', before: '8080/TCP', after: '9090/TCP' }];
    assert.deepEqual((told as { what: Endpoints }).what.fields, fields);
  });

  it('names 128 of a thousand endpoints that flip, and counts all', () => {
    const [told] = ofSlices(slice(many(1_000)), slice(many(1_000, { ready: false })));
    const [move, ...more] = (told as { what: Endpoints }).what.moves;
    assert.deepEqual([move?.endpoints.first.length, move?.endpoints.count], [128, 1_000]);
    assert.deepEqual(more, []);
  });

  it('does not compare a slice that is larger than the API allows', () => {
    const [told] = ofSlices(slice(many(80_000)), slice(many(79_999)));
    const { moves, uncompared } = (told as { what: Endpoints }).what;
    assert.deepEqual([moves, uncompared], [[], { before: 80_000, after: 79_999 }]);
  });

  it('tells both Services of a slice that is given from one to the other', () => {
    const endpoints = [endpoint('10.0.0.1')];
    const told = ofSlices(slice(endpoints), slice(endpoints, { service: 'api' }));
    const verbs = told.map(({ service: name, what }) => [name, (what as Endpoints).change]);
    assert.deepEqual(verbs, [
      ['ns/web', 'deleted'],
      ['ns/api', 'created'],
    ]);
  });

  it('tells nothing of slices that proxies do not serve', () => {
    assert.deepEqual(ofSlices(undefined, slice([], { headless: true })), []);
    assert.deepEqual(ofSlices(undefined, slice([], { addressType: 'FQDN' })), []);
    assert.deepEqual(ofSlices(undefined, slice([], { service: '' })), []);
  });
});

describe('happeningsOf a Service', () => {
  const fieldsOf = (more: Parameters<typeof service>[0], was = {}) => {
    const change = { before: service(was), after: service(more), stamp: undefined };
    const [told] = happeningsOf({ kind: 'service', key: 'ns/web', ...change });
    return (told as { what: Extract<Happening, { kind: 'service' }> }).what.fields;
  };

  it('names the fields that changed, with their values', () => {
    const ports = [{ name: 'web', protocol: 'TCP', port: 81, nodePort: 30_080 }];
    assert.deepEqual(fieldsOf({ ports, internalTrafficPolicy: 'Local' }), [
      { field: 'spec.ports', before: '80/TCP', after: 'web 81/TCP node port 30080' },
      { field: 'spec.internalTrafficPolicy', before: 'Cluster', after: 'Local' },
    ]);
  });

  it('tells that the selector changed', () => {
    const [change] = fieldsOf({ selectorHash: 2 }, { selectorHash: 1 });
    assert.equal(change?.field, 'spec.selector');
  });

  it('shows the end of a long value, where it differs', () => {
    const externalIPs = Array.from({ length: 100 }, (_, index) => `192.0.2.${index}`);
    const [change] = fieldsOf(
      { externalIPs: [...externalIPs.slice(0, 99), '198.51.100.7'] },
      { externalIPs },
    );
    assert.deepEqual([change?.before, change?.after], ['…, 192.0.2.99', '…, 198.51.100.7']);
  });

  it('is told with no field where none that this node uses changed', () => {
    assert.deepEqual(fieldsOf({}), []);
  });
});
