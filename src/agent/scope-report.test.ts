import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopeReport, scopeText } from './scope-report.ts';

const SCOPE = { namespaces: ['shop', 'shpo', 'secret'], services: ['kube-system/kube-dns', 'a/b'] };

test('names readable parts of the scope in which no Service was found', () => {
  const table = { serviceNames: () => ['shop/web', 'kube-system/kube-dns'] };
  const health = { connected: false, lastHeardAtMs: 0, skippedCount: 0 };
  const sources = [{ kind: 'service', ...health, forbidden: ['namespace secret'] }] as const;
  const { empty } = scopeReport(SCOPE, { table, sources });
  assert.deepEqual(empty, ['namespace shpo', 'Service a/b']);
});

test('describes a scope in one line', () => {
  assert.equal(
    scopeText({ ...SCOPE, serviceSelector: 'tier=front' }),
    'namespaces shop, shpo, secret; tier=front; Services kube-system/kube-dns, a/b',
  );
  assert.equal(scopeText({ namespaces: ['shop'], services: [] }), 'namespace shop');
});
