import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceObject, SliceEndpoint } from '../cluster/objects.ts';
import { type Candidate, candidatesOf } from './candidates.ts';
import { compile } from './compile.ts';
import type { NodeView } from './model.ts';
import {
  elsewhere,
  endpoint,
  service,
  slice,
  TERMINATING,
  view,
} from './testing/example-objects.ts';

interface Case {
  readonly endpoints: readonly SliceEndpoint[];
  readonly service?: Partial<ServiceObject>;
  readonly view?: Partial<NodeView>;
}

const NODE_PORT = [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }];
const BOTH_LISTS = { type: 'NodePort', ports: NODE_PORT, externalTrafficPolicy: 'Local' } as const;

function input(drawn: Case): Parameters<typeof compile>[0] {
  return {
    service: service(drawn.service ?? BOTH_LISTS),
    slices: [slice(drawn.endpoints)],
    family: 'IPv4',
    view: view(drawn.view),
  };
}

/** Last octets of the endpoints of both lists. */
function chosen(drawn: Case): { cluster: string; local: string } {
  const [row] = compile(input(drawn));
  const octets = (list: readonly { address: string }[] = []): string =>
    list.map(({ address }) => address.split('.')[3]).join(' ');
  return { cluster: octets(row?.clusterEndpoints), local: octets(row?.localEndpoints) };
}

function verdicts(drawn: Case): Record<string, Candidate['verdicts']> {
  const id = {
    namespace: 'ns',
    service: 'web',
    port: '',
    protocol: 'TCP',
    family: 'IPv4',
  } as const;
  const candidates = candidatesOf({ ...input(drawn), id });
  return Object.fromEntries(candidates.map((c) => [c.address.split('.')[3], c.verdicts]));
}

describe('selection', () => {
  it('takes all ready endpoints, and for the local list those of this node', () => {
    const endpoints = [
      endpoint('10.0.0.1'),
      elsewhere('10.0.0.2'),
      endpoint('10.0.0.3', { ready: false }),
    ];
    assert.deepEqual(chosen({ endpoints }), { cluster: '1 2', local: '1' });
    assert.deepEqual(verdicts({ endpoints })['2'], {
      cluster: 'selected',
      local: 'on another node',
    });
    assert.deepEqual(verdicts({ endpoints })['3'], { cluster: 'not ready', local: 'not ready' });
  });

  it('falls back to endpoints that are terminating and serving, in each list separately', () => {
    const endpoints = [endpoint('10.0.0.1', TERMINATING), elsewhere('10.0.0.2')];
    assert.deepEqual(chosen({ endpoints }), { cluster: '2', local: '1' });
    const last = [endpoint('10.0.0.1', TERMINATING), elsewhere('10.0.0.2', TERMINATING)];
    assert.deepEqual(chosen({ endpoints: last }), { cluster: '1 2', local: '1' });
    assert.equal(verdicts({ endpoints })['1']?.cluster, 'terminating, and others are ready');
  });

  it('never takes an endpoint that no longer serves', () => {
    const gone = endpoint('10.0.0.1', { ready: false, serving: false, terminating: true });
    assert.deepEqual(chosen({ endpoints: [gone] }), { cluster: '', local: '' });
    assert.equal(verdicts({ endpoints: [gone] })['1']?.local, 'terminating and no longer serving');
  });

  it('keeps to the zone when every ready endpoint has a hint and one is for it', () => {
    const a = endpoint('10.0.0.1', { zoneHints: ['zone-a'] });
    const b = elsewhere('10.0.0.2', { zoneHints: ['zone-b'] });
    assert.equal(chosen({ endpoints: [a, b] }).cluster, '1');
    assert.equal(verdicts({ endpoints: [a, b] })['2']?.cluster, 'hinted for another zone');
    assert.equal(chosen({ endpoints: [a, b], view: { zone: 'zone-c' } }).cluster, '1 2');
    assert.equal(chosen({ endpoints: [a, b, elsewhere('10.0.0.3')] }).cluster, '1 2 3');
    assert.equal(chosen({ endpoints: [a, b], view: { zone: '' } }).cluster, '1 2');
  });

  it('prefers the hint for the node to the one for the zone', () => {
    const hints = { zoneHints: ['zone-a'] };
    const here = endpoint('10.0.0.1', { ...hints, nodeHints: ['here'] });
    const there = elsewhere('10.0.0.2', { ...hints, nodeHints: ['there'] });
    assert.equal(chosen({ endpoints: [here, there] }).cluster, '1');
    assert.equal(verdicts({ endpoints: [here, there] })['2']?.cluster, 'hinted for another node');
    assert.equal(chosen({ endpoints: [there, elsewhere('10.0.0.3', hints)] }).cluster, '2 3');
  });

  it('ignores hints for a node of the same name on a machine without a Node object', () => {
    const hints = { zoneHints: ['zone-a'] };
    const here = endpoint('10.0.0.1', { ...hints, nodeHints: ['here'] });
    const there = elsewhere('10.0.0.2', { ...hints, nodeHints: ['there'] });
    const other = elsewhere('10.0.0.3', { zoneHints: ['zone-b'], nodeHints: ['there'] });
    const endpoints = [here, there, other];
    const view = { isNode: false } as const;
    assert.deepEqual(chosen({ endpoints, view }), { cluster: '1 2', local: '' });
    assert.deepEqual(verdicts({ endpoints, view })['1'], {
      cluster: 'selected',
      local: 'this machine is not a node',
    });
    assert.equal(verdicts({ endpoints, view })['3']?.cluster, 'hinted for another zone');
  });

  it('ignores hints in the local list', () => {
    const endpoints = [
      endpoint('10.0.0.1', { zoneHints: ['zone-b'] }),
      elsewhere('10.0.0.2', { zoneHints: ['zone-a'] }),
    ];
    assert.deepEqual(chosen({ endpoints }), { cluster: '2', local: '1' });
  });

  it('builds no list that no frontend uses', () => {
    const endpoints = [endpoint('10.0.0.1')];
    assert.deepEqual(chosen({ endpoints, service: {} }), { cluster: '1', local: '' });
    const local = { internalTrafficPolicy: 'Local' as const };
    assert.deepEqual(chosen({ endpoints, service: local }), { cluster: '', local: '1' });
    assert.equal(verdicts({ endpoints, service: local })['1']?.cluster, 'list not used');
  });
});
