import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { paths } from '../../../lab/api/objects.ts';
import { until } from '../../../lab/host/until.ts';
import type { Scope } from '../../../src/cluster/watch-scope.ts';
import { ScopeLab, WAIT_MS } from './scope-lab.ts';

const LONG_MS = 240_000;
const FRONT = { tier: 'front' };
const SHOP_AND_BILLING = { namespaces: ['shop', 'billing'], services: [] };
const SELECTED = { namespaces: ['shop'], services: [], serviceSelector: 'tier=front' };
const NAMED = { namespaces: [], services: ['bank/ledger'] };

/** The Service and its slices. */
function served(...keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => [`service ${key}`, `slice ${key}`]);
}

/** A slice that no controller maintains, without the labels of its Service. */
function byHand(name: string, service: string): object {
  const labels = { 'kubernetes.io/service-name': service };
  const endpoints = [{ addresses: ['10.129.0.9'], conditions: {} }];
  return { metadata: { name, labels }, addressType: 'IPv4', endpoints, ports: [{ port: 8080 }] };
}

describe('a source with a scope and Roles only', { timeout: LONG_MS }, () => {
  let stage: ScopeLab;

  before(async () => {
    stage = await ScopeLab.start();
    for (const name of ['shop', 'billing', 'bank', 'other']) {
      await stage.lab.api.create(paths.namespaces, { metadata: { name } });
    }
    await stage.service('shop/web', FRONT);
    await stage.service('shop/db');
    await stage.service('billing/pay');
    await stage.service('bank/ledger');
    await stage.service('bank/vault');
    await stage.service('other/noise', FRONT);
    await stage.lab.api.create(paths.slices('shop'), byHand('by-hand', 'web'));
    await stage.grant('shop');
    await stage.grant('billing');
    await stage.grant('bank', ['ledger']);
  });

  after(async () => await stage?.[Symbol.asyncDispose]());

  const listen = async (scope: Scope) =>
    await stage.listen({ scope, watchesNamespaces: true, watchesServiceCidrs: false });

  it('gets the Services and slices of its namespaces', async () => {
    await using listener = await listen(SHOP_AND_BILLING);
    await listener.synced();
    await listener.has([...served('shop/web', 'shop/db', 'billing/pay'), 'slice shop/by-hand']);
    assert.ok(listener.source.health().every(({ connected }) => connected));
  });

  it('gets a named Service by a Role with its name only', async () => {
    await using listener = await listen(NAMED);
    await listener.synced();
    await listener.has(served('bank/ledger'));
  });

  it('gets selected Services, with slices of the controller and of others', async () => {
    await using listener = await listen(SELECTED);
    await listener.synced();
    const first = [...served('shop/web'), 'slice shop/by-hand'];
    await listener.has(first);
    const db = paths.service('shop', 'db');
    await stage.lab.api.patch(db, { metadata: { labels: FRONT } });
    await listener.has([...first, ...served('shop/db')]);
    await stage.lab.api.patch(db, { metadata: { labels: { tier: 'back' } } });
    await listener.has(first);
    await stage.lab.api.patch(db, { metadata: { labels: { tier: null } } });
    await stage.service('shop/fresh', FRONT);
    await listener.has([...first, ...served('shop/fresh')]);
    await stage.lab.api.delete(paths.service('shop', 'fresh'));
    await listener.has(first);
  });

  it('loses the objects of a namespace that is deleted', async () => {
    const { api } = stage.lab;
    await api.create(paths.namespaces, { metadata: { name: 'brief' } });
    await stage.grant('brief');
    await stage.service('brief/web');
    await using listener = await listen({ namespaces: ['brief', 'billing'], services: [] });
    await listener.synced();
    await listener.has(served('brief/web', 'billing/pay'));
    await api.delete(paths.namespace('brief'));
    await listener.has(served('billing/pay'));
  });

  it('was denied nothing, and requested nothing but the scope and the version', async () => {
    const requests = await stage.requests();
    const rejected = requests.filter(({ responseStatus }) => (responseStatus?.code ?? 200) >= 400);
    assert.deepEqual(rejected, []);
    const asked = new Set(requests.map(({ requestURI }) => requestURI.replace(/\?.*/, '')));
    const inNamespace = (name: string): string[] => [
      `/api/v1/namespaces/${name}/services`,
      `/apis/discovery.k8s.io/v1/namespaces/${name}/endpointslices`,
    ];
    const expected = ['shop', 'billing', 'bank', 'brief'].flatMap(inNamespace);
    assert.deepEqual([...asked].sort(), [...expected, '/version'].sort());
    const verbs = new Set(requests.map(({ verb }) => verb));
    assert.ok(!verbs.has('create') && !verbs.has('update'), [...verbs].join());
  });

  it('goes on without a forbidden namespace, names it, and reads it once it is granted', async () => {
    await stage.revoke('billing');
    await using listener = await listen(SHOP_AND_BILLING);
    await listener.synced();
    await listener.has([...served('shop/web', 'shop/db'), 'slice shop/by-hand']);
    const [service] = listener.source.health();
    assert.deepEqual(service?.forbidden, ['namespace billing']);
    assert.match(service?.lastError ?? '', /cannot watch resource "services".*namespace "billing"/);
    await stage.grant('billing');
    const isRead = (): boolean =>
      listener.source.health().every(({ connected, forbidden }) => connected && !forbidden);
    await until(isRead, { what: 'the namespace', deadlineMs: WAIT_MS });
    await listener.has([...served('shop/web', 'shop/db', 'billing/pay'), 'slice shop/by-hand']);
  });
});
