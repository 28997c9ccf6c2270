import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { Connection } from './api-connection.ts';
import { RestClient } from './rest-client.ts';
import { type Exchange, FakeApiServer } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';

const ROLE = '/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles/r';

async function stage(t: TestContext, onRequest: (exchange: Exchange, index: number) => void) {
  const server = await FakeApiServer.start(onRequest);
  t.after(() => server[Symbol.asyncDispose]());
  const connection = new Connection({ access: openAccess(server.url) });
  t.after(() => connection.close());
  return { client: new RestClient(connection, new AbortController().signal), server };
}

it('reads an object, and says when there is none', async (t) => {
  const { client } = await stage(t, (exchange, index) =>
    index === 0 ? exchange.answer(200, { kind: 'Role' }) : exchange.reject(404),
  );
  assert.deepEqual(await client.get(ROLE), { kind: 'Role' });
  assert.equal(await client.get(ROLE), undefined);
});

it('reads every page of a list', async (t) => {
  const { client, server } = await stage(t, (exchange, index) =>
    exchange.answer(200, {
      metadata: index === 0 ? { continue: 'x y' } : {},
      items: [{ index }],
    }),
  );
  assert.deepEqual(await client.list('/api/v1/nodes', { labelSelector: 'a=b' }), [
    { index: 0 },
    { index: 1 },
  ]);
  assert.deepEqual(
    server.requests.map(({ headers }) => headers[':path']),
    [
      '/api/v1/nodes?labelSelector=a%3Db&limit=500',
      '/api/v1/nodes?labelSelector=a%3Db&limit=500&continue=x+y',
    ],
  );
});

it('applies an object as field manager fairlead', async (t) => {
  const bodies: Promise<string>[] = [];
  const { client, server } = await stage(t, (exchange) => {
    bodies.push(text(exchange.stream));
    exchange.answer(200, { metadata: { resourceVersion: '7' } });
  });
  const applied = await client.apply(ROLE, { kind: 'Role' });
  assert.deepEqual(applied, { metadata: { resourceVersion: '7' } });
  assert.deepEqual(await Promise.all(bodies), ['{"kind":"Role"}']);
  const [request] = server.requests;
  assert.equal(request?.headers[':method'], 'PATCH');
  assert.equal(request?.headers['content-type'], 'application/apply-patch+yaml');
  assert.equal(request?.headers[':path'], `${ROLE}?fieldManager=fairlead&force=true`);
});

it('asks whether an object could be applied', async (t) => {
  const { client, server } = await stage(t, (exchange) => exchange.reject(403));
  await assert.rejects(client.tryApply(ROLE, { kind: 'Role' }), { status: 403 });
  assert.equal(
    server.requests[0]?.headers[':path'],
    `${ROLE}?fieldManager=fairlead&force=true&dryRun=All`,
  );
});

it('deletes an object, also one that is gone already', async (t) => {
  const { client, server } = await stage(t, (exchange, index) =>
    index === 0 ? exchange.answer(200, { kind: 'Status' }) : exchange.reject(404),
  );
  assert.equal(await client.delete(ROLE), true);
  assert.equal(await client.delete(ROLE), false);
  assert.equal(server.requests[0]?.headers[':method'], 'DELETE');
});

it('does not send a user with too few rights to the role of a proxy', async (t) => {
  const { client } = await stage(t, (exchange) => exchange.reject(403));
  await assert.rejects(client.create('/api/v1/namespaces/a/serviceaccounts', {}), {
    code: 'CLUSTER_ANSWER',
    status: 403,
    next: /user who may do this/,
  });
});
