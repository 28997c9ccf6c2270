import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonRecord } from './json.ts';
import type { Kind } from './object-kinds.ts';
import { isWithinNamespaces, partsOf, resourceOf, type Scope, scopeFilter } from './watch-scope.ts';

const NOTHING: Scope = { namespaces: [], services: [] };
const CONTROLLER = 'endpointslice.kubernetes.io/managed-by';

/** `path label selector | field selector`, without the selectors that every proxy has. */
function requests(scope: Partial<Scope>): readonly string[] {
  return partsOf({ ...NOTHING, ...scope })
    .map(resourceOf)
    .map(({ path, labelSelector = '', fieldSelector = '' }) => {
      const [own, ...labels] = labelSelector.split(/,(?![^(]*\))/);
      assert.match(own ?? '', /^!service\.kubernetes\.io\/(service-proxy-name|headless)$/);
      const fields = fieldSelector.split(',').filter((each) => each !== 'spec.clusterIP!=None');
      if (path.endsWith('/services')) assert.match(fieldSelector, /spec\.clusterIP!=None$/);
      return `${path} ${labels.join(',')} | ${fields.join(',')}`.trimEnd();
    });
}

test('reads Services and slices of each namespace', () => {
  assert.deepEqual(requests({ namespaces: ['shop', 'billing'] }), [
    '/api/v1/namespaces/shop/services  |',
    '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices  |',
    '/api/v1/namespaces/billing/services  |',
    '/apis/discovery.k8s.io/v1/namespaces/billing/endpointslices  |',
  ]);
});

test('reads slices of other controllers without the selector of Services', () => {
  assert.deepEqual(requests({ namespaces: ['shop'], serviceSelector: 'tier=front' }), [
    '/api/v1/namespaces/shop/services tier in (front) |',
    `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices ${CONTROLLER} in (endpointslice-controller.k8s.io),tier in (front) |`,
    `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices ${CONTROLLER} notin (endpointslice-controller.k8s.io) |`,
  ]);
});

test('reads all namespaces with a selector alone', () => {
  const [services] = requests({ serviceSelector: '!internal' });
  assert.equal(services, '/api/v1/services !internal |');
  assert.equal(isWithinNamespaces({ ...NOTHING, serviceSelector: '!internal' }), false);
  assert.equal(isWithinNamespaces({ ...NOTHING, services: ['a/b'] }), true);
});

test('does not select slices by labels that their controller sets itself', () => {
  assert.deepEqual(requests({ serviceSelector: '!kubernetes.io/service-name' }), [
    '/api/v1/services !kubernetes.io/service-name |',
    '/apis/discovery.k8s.io/v1/endpointslices  |',
  ]);
});

test('reads named Services one by one, and their slices together', () => {
  assert.deepEqual(requests({ services: ['shop/web', 'shop/api', 'other/x'] }), [
    '/api/v1/namespaces/shop/services  | metadata.name=web',
    '/api/v1/namespaces/shop/services  | metadata.name=api',
    '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices kubernetes.io/service-name in (web,api) |',
    '/api/v1/namespaces/other/services  | metadata.name=x',
    '/apis/discovery.k8s.io/v1/namespaces/other/endpointslices kubernetes.io/service-name in (x) |',
  ]);
});

test('does not read a named Service twice if its whole namespace is in the scope', () => {
  assert.equal(requests({ namespaces: ['shop'], services: ['shop/web'] }).length, 2);
  const selected = { namespaces: ['shop'], services: ['shop/web'], serviceSelector: 'a' };
  assert.equal(requests(selected).length, 5);
});

test('names the part that a request reads', () => {
  const parts = partsOf({ namespaces: ['shop'], services: ['other/x'] }).map(resourceOf);
  assert.deepEqual(
    parts.map(({ part }) => part),
    ['namespace shop', 'namespace shop', 'Service other/x', 'namespace other'],
  );
});

test('filters objects of manifests as the API server does', () => {
  const scope = { namespaces: ['shop'], services: ['other/x'], serviceSelector: 'tier=front' };
  const isIn = scopeFilter(scope);
  const object = (namespace: string, name: string, labels: JsonRecord = {}): JsonRecord => ({
    metadata: { namespace, name, labels },
  });
  const front = { tier: 'front' };
  const byController = { [CONTROLLER]: 'endpointslice-controller.k8s.io' };
  for (const [kind, raw, isWanted] of [
    ['service', object('shop', 'web', front), true],
    ['service', object('shop', 'web'), false],
    ['service', object('other', 'web', front), false],
    ['service', object('other', 'x'), true],
    ['slice', object('shop', 's', { ...front, ...byController }), true],
    ['slice', object('shop', 's', byController), false],
    ['slice', object('shop', 's'), true],
    ['slice', object('other', 's', front), false],
    ['slice', object('other', 's', { 'kubernetes.io/service-name': 'x' }), true],
    ['namespace', object('', 'shop'), false],
    ['node', object('', 'n'), true],
    ['serviceCidr', object('', 'c'), true],
  ] as const satisfies readonly (readonly [Kind, JsonRecord, boolean])[]) {
    assert.equal(isIn(kind, raw), isWanted, `${kind} ${JSON.stringify(raw)}`);
  }
});
