import assert from 'node:assert/strict';
import { it } from 'node:test';
import { candidatesOf } from '../candidates.ts';
import { compile } from '../compile.ts';
import type { NodeView } from '../model.ts';
import {
  elsewhere,
  endpoint,
  service,
  slice,
  TERMINATING,
  view,
} from '../testing/example-objects.ts';
import { type EndpointShare, sharesOf } from './endpoint-shares.ts';
import type { MadeBy } from './place.ts';
import { predictAt } from './predict.ts';

const PLACE = {
  view: view(),
  facts: {
    podDetection: { IPv4: undefined, IPv6: undefined },
    nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
    serviceRanges: [],
  },
  machineAddresses: [],
} as const;

function shares(
  more: Parameters<typeof service>[0],
  endpoints: Parameters<typeof slice>[0],
  {
    nodeView = {},
    madeBy = () => undefined,
  }: { nodeView?: Partial<NodeView>; madeBy?: MadeBy } = {},
) {
  const here = view(nodeView);
  const [web, slices] = [service(more), [slice(endpoints)]];
  const [row] = compile({ service: web, slices, family: 'IPv4', view: here });
  const frontend = row?.frontends[0];
  assert.ok(row && frontend);
  const source = { class: 'pod', address: '10.1.0.1', because: '' } as const;
  const prediction = predictAt({ source }, { row, frontend }, PLACE);
  const candidates = candidatesOf({ service: web, slices, id: row.id, view: view() });
  return sharesOf(prediction, candidates, { source, place: { ...PLACE, madeBy } });
}

function brief({ endpoint: at, oneOf, because, hairpin }: EndpointShare): string {
  return `${at} ${oneOf === undefined ? because : `1 of ${oneOf}`}${hairpin ? ', itself' : ''}`;
}

it('gives every selected endpoint its share, and all others the reason of the selection', () => {
  const found = shares({}, [
    endpoint('10.1.0.1'),
    elsewhere('10.1.9.1'),
    elsewhere('10.1.9.2', { ready: false, serving: false }),
    endpoint('10.1.0.2', TERMINATING),
  ]);
  assert.deepEqual(found.map(brief), [
    '10.1.0.1:8080 1 of 2, itself',
    '10.1.0.2:8080 terminating, and others are ready',
    '10.1.9.1:8080 1 of 2',
    '10.1.9.2:8080 not ready',
  ]);
});

it('takes the reasons of the local list where the policy is Local', () => {
  const found = shares({ internalTrafficPolicy: 'Local' }, [
    elsewhere('10.1.9.1'),
    endpoint('10.1.0.2', { ready: false, serving: false }),
  ]);
  assert.deepEqual(found.map(brief), ['10.1.0.2:8080 not ready', '10.1.9.1:8080 on another node']);
});

it('keeps the source at an endpoint with an address of this node, which is not routed to', () => {
  const endpoints = [endpoint('10.1.0.7'), endpoint('172.30.1.1')];
  const found = shares({}, endpoints, { nodeView: { masqueradeAll: true } });
  assert.deepEqual(
    found.map(({ endpoint: at, keepsSource = false }) => [at, keepsSource]),
    [
      ['10.1.0.7:8080', false],
      ['172.30.1.1:8080', true],
    ],
  );
});

it('shows the node to an endpoint of this node that a process connects to', () => {
  const endpoints = [endpoint('10.1.0.1'), endpoint('10.1.0.7'), endpoint('172.30.1.1')];
  for (const masqueradeAll of [false, true]) {
    const found = shares({}, endpoints, { nodeView: { masqueradeAll }, madeBy: () => 'process' });
    assert.deepEqual(
      found.map(({ nodeSource = false, keepsSource = false }) => [nodeSource, keepsSource]),
      // Masqueraded connections all have an address of the node.
      [!masqueradeAll, false, !masqueradeAll].map((isNode) => [isNode, false]),
    );
  }
});
