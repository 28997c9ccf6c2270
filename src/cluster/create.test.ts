import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { Connection } from './api-connection.ts';
import { createObject } from './create.ts';
import { Secret } from './secret.ts';
import { type Exchange, FakeApiServer } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';

const NEVER = new AbortController().signal;
const EVENT = { path: '/apis/events.k8s.io/v1/namespaces/x/events', object: { note: 'ä' } };

async function stage(t: TestContext, onRequest: (exchange: Exchange, index: number) => void) {
  const server = await FakeApiServer.start(onRequest);
  t.after(() => server[Symbol.asyncDispose]());
  const rejected: (Secret | undefined)[] = [];
  const access = openAccess(server.url, {
    token: async () => new Secret('t'),
    rejected: (token) => rejected.push(token),
  });
  const connection = new Connection({ access });
  t.after(() => connection.close());
  return { connection, server, rejected };
}

it('creates an object', async (t) => {
  const bodies: Promise<string>[] = [];
  const { connection, server } = await stage(t, (exchange) => {
    bodies.push(text(exchange.stream));
    exchange.answer(201, {});
  });
  await createObject(connection, EVENT, NEVER);
  assert.deepEqual(await Promise.all(bodies), ['{"note":"ä"}']);
  const [request] = server.requests;
  assert.equal(request?.headers[':method'], 'POST');
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.equal(request?.path, EVENT.path);
});

it('reports why the server rejects the object', async (t) => {
  const { connection } = await stage(t, (exchange) => exchange.reject(403));
  await assert.rejects(createObject(connection, EVENT, NEVER), {
    code: 'CLUSTER_ANSWER',
    status: 403,
  });
});

it('retries once with a new token and the whole object', async (t) => {
  const bodies: Promise<string>[] = [];
  const { connection, rejected } = await stage(t, (exchange, index) => {
    bodies.push(text(exchange.stream));
    if (index === 0) exchange.reject(401);
    else exchange.answer(201, {});
  });
  await createObject(connection, EVENT, NEVER);
  assert.equal(rejected.length, 1);
  assert.equal(await bodies[1], '{"note":"ä"}');
});
