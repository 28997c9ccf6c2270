import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { JsonRecord } from '../../cluster/json.ts';
import {
  applyObjects,
  assertApplicable,
  deleteObjects,
  type ObjectClient,
} from './apply-objects.ts';
import { clusterId } from './cluster-id.ts';
import { identityOf, rightsFor } from './machine-rights.ts';
import { readRecord } from './record.ts';

const RIGHTS = { name: 'fairlead-db1', namespace: 'kube-system', readsNamespaces: false };
const WIDE = rightsFor({ ...RIGHTS, scope: undefined, canRenew: true });
const NARROW = rightsFor({
  ...RIGHTS,
  scope: { namespaces: ['shop'], services: [] },
  canRenew: true,
});
const FOREIGN = { metadata: { labels: { 'app.kubernetes.io/name': 'other' } } };
const CLUSTER_ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead-db1';

/** A cluster in memory. */
function cluster(id: string) {
  const objects = new Map<string, JsonRecord>();
  const client: ObjectClient = {
    get: async (path) =>
      path === '/api/v1/namespaces/kube-system' ? { metadata: { uid: id } } : objects.get(path),
    apply: async (path, object) => {
      objects.set(path, { ...object });
      return { ...object };
    },
    tryApply: async () => undefined,
    delete: async (path) => objects.delete(path),
  };
  return { client, objects };
}

async function rootFolder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-objects-'));
  t.after(() => rm(root, { recursive: true }));
  return root;
}

it('deletes what an earlier call made and is not wanted now', async (t) => {
  const { client, objects } = cluster('a');
  const options = { client, root: await rootFolder(t), server: 'https://a', cluster: 'a' };
  await applyObjects(WIDE, options);
  await applyObjects(NARROW, options);
  assert.equal(objects.has(CLUSTER_ROLE), false);
});

it('deletes nothing from another cluster', async (t) => {
  const root = await rootFolder(t);
  const [first, second] = [cluster('a'), cluster('b')];
  const server = 'https://localhost:6443';
  await applyObjects(WIDE, { client: first.client, root, server, cluster: 'a' });
  const ofAnotherMachine = WIDE.find(({ kind }) => kind === 'ClusterRole');
  assert.ok(ofAnotherMachine);
  second.objects.set(CLUSTER_ROLE, ofAnotherMachine);
  await applyObjects(NARROW, { client: second.client, root, server, cluster: 'b' });
  assert.equal(second.objects.has(CLUSTER_ROLE), true);
  const record = await readRecord(root);
  assert.equal(record.cluster, 'b');
  assert.deepEqual(record.objects, NARROW.map(identityOf));
});

it('does not take over an object without the labels of Fairlead', async () => {
  const { client, objects } = cluster('a');
  await assertApplicable(WIDE, client);
  objects.set(CLUSTER_ROLE, FOREIGN);
  await assert.rejects(assertApplicable(WIDE, client), {
    code: 'OBJECT_NOT_OURS',
    message: 'ClusterRole fairlead-db1 exists, and was not made by fairlead outside',
  });
});

it('leaves an object alone that was replaced by one without the labels', async (t) => {
  const { client, objects } = cluster('a');
  const root = await rootFolder(t);
  await applyObjects(WIDE, { client, root, server: 'https://a', cluster: 'a' });
  objects.set(CLUSTER_ROLE, FOREIGN);
  await deleteObjects(WIDE.map(identityOf), { client, root });
  assert.deepEqual([...objects.keys()], [CLUSTER_ROLE]);
  assert.deepEqual((await readRecord(root)).objects, []);
});

it('identifies a cluster, and no other server', async () => {
  assert.equal(await clusterId(cluster('a').client), 'a');
  await assert.rejects(clusterId({ get: async () => undefined }), { code: 'CLUSTER_UNKNOWN' });
});
