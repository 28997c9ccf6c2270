import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { it } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { openHttpServer } from './http.ts';
import { keepServing, retryLikeKubeProxy } from './keep-serving.ts';
import type { OpenServer } from './open-server.ts';
import { routes, textReply } from './reply.ts';
import type { ServerError } from './server-error.ts';
import { ask, serve } from './testing/serve-pages.ts';
import { serving } from './testing/serving-server.ts';

const HELLO = routes(new Map([['/', () => textReply('hello')]]));

it('listens as soon as the port is free', async (t) => {
  const other = net.createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as net.AddressInfo;
  const failureCounts: number[] = [];
  const { problems } = await serve(t, (hooks, signal) =>
    keepServing(
      {
        ...hooks,
        where: 'here',
        open: () => openHttpServer({ ip: '127.0.0.1', port }, serving(HELLO)),
        retryAfterMs: (count) => {
          failureCounts.push(count);
          if (count === 3) other.close();
          return 1;
        },
      },
      signal,
    ),
  );
  assert.deepEqual(failureCounts.slice(0, 3), [1, 2, 3]);
  assert.ok(problems.every(({ code }) => code === 'SERVER_LISTEN'));
  assert.equal((await ask(`http://127.0.0.1:${port}/`)).body, 'hello');
});

it('reopens a server that closed unexpectedly', async (t) => {
  const opened: OpenServer[] = [];
  const { problems } = await serve(t, (hooks, signal) =>
    keepServing(
      {
        onProblem: hooks.onProblem,
        onOpen: (server) => {
          opened.push(server);
          hooks.onOpen(server);
        },
        where: 'here',
        open: () => openHttpServer({ ip: '127.0.0.1', port: 0 }, serving(HELLO)),
        retryAfterMs: () => 1,
      },
      signal,
    ),
  );
  opened[0]?.close();
  await until('a second server', () => opened.length === 2);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['SERVER_CLOSED'],
  );
  assert.equal((await ask(`http://127.0.0.1:${opened[1]?.port}/`)).body, 'hello');
});

it('closes the port and its connections when aborted', async (t) => {
  const { port, stop } = await serve(t, (hooks, signal) =>
    keepServing(
      {
        ...hooks,
        where: 'here',
        open: () => openHttpServer({ ip: '127.0.0.1', port: 0 }, serving(HELLO)),
        retryAfterMs: () => undefined,
      },
      signal,
    ),
  );
  const idle = net.connect({ port, host: '127.0.0.1' });
  await once(idle, 'connect');
  const ended = once(idle, 'close');
  await stop();
  await ended;
  await assert.rejects(ask(`http://127.0.0.1:${port}/`));
});

it('retries after five seconds, or not at all', () => {
  assert.equal(retryLikeKubeProxy(false)(1), 5_000);
  assert.equal(retryLikeKubeProxy(true)(1), undefined);
});

it('responds 500 and reports when a handler fails, and continues', async (t) => {
  const problems: ServerError[] = [];
  const fail = (): never => {
    throw new Error('secret detail');
  };
  const handler = routes(new Map([['/bad', fail]]));
  const server = await openHttpServer(
    { ip: '127.0.0.1', port: 0 },
    {
      ...serving(handler),
      onProblem: (problem) => problems.push(problem),
    },
  );
  t.after(() => server.close());
  const { status, body } = await ask(`http://127.0.0.1:${server.port}/bad`);
  assert.equal(status, 500);
  assert.equal(body, 'internal error\n');
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['SERVER_HANDLER'],
  );
  assert.equal((await ask(`http://127.0.0.1:${server.port}/`)).status, 404);
});

it('responds to HEAD with the Content-Length of GET', async (t) => {
  const server = await openHttpServer({ ip: '127.0.0.1', port: 0 }, serving(HELLO));
  t.after(() => server.close());
  const request = http.request({ port: server.port, host: '127.0.0.1', method: 'HEAD' });
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  assert.equal(response.headers['content-length'], '5');
});
