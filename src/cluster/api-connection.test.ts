import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../time/testing/until.ts';
import type { ClusterAccess, TlsMaterial } from './access.ts';
import { Connection, type ConnectionOptions } from './api-connection.ts';
import { describeError } from './cluster-error.ts';
import type { RequestListener, RequestSeen } from './request-seen.ts';
import { Secret } from './secret.ts';
import { makeCertificate } from './testing/certificates.ts';
import { type Exchange, FakeApiServer } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';

// A fake server, because a real one cannot be made to fall silent on demand.

const NEVER = new AbortController().signal;

async function serve(t: TestContext, onRequest: (exchange: Exchange, index: number) => void) {
  const server = await FakeApiServer.start(onRequest);
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

function connect(t: TestContext, options: ConnectionOptions): Connection {
  const connection = new Connection(options);
  t.after(() => connection.close());
  return connection;
}

async function read(connection: Connection, path = '/x'): Promise<string> {
  const answer = await connection.get(path, NEVER);
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body()) chunks.push(chunk);
  return `${answer.status} ${Buffer.concat(chunks)}`;
}

describe('Connection', () => {
  it('carries all requests, and is opened once for concurrent requests', async (t) => {
    const server = await serve(t, (x) => x.answer(200, x.path));
    const connection = connect(t, { access: openAccess(server.url) });
    const paths = ['/a', '/b', '/c', '/d'];
    const answers = await Promise.all(paths.map((path) => read(connection, path)));
    assert.deepEqual(answers, ['200 /a', '200 /b', '200 /c', '200 /d']);
    assert.equal(server.connectionCount, 1);
    assert.ok(connection.lastHeardAtMs > 0);
  });

  it('reopens after it was lost, with the current contents of the files', async (t) => {
    const server = await serve(t, (x) => x.answer(200, 'ok'));
    let reads = 0;
    const tls = async (): Promise<TlsMaterial> => {
      reads++;
      return { isUnverified: false };
    };
    const connection = connect(t, { access: openAccess(server.url, { tls }) });
    assert.equal(await read(connection), '200 ok');
    server.resetConnections();
    await until('an answer on a new connection', () => server.connectionCount === 1);
    await assert.doesNotReject(async () => {
      await read(connection).catch(() => read(connection));
    });
    assert.equal(server.connectionCount, 2);
    assert.equal(reads, 2);
  });

  it('reports each request, also one without a response', async (t) => {
    const server = await serve(t, (x) => x.answer(x.path === '/no' ? 404 : 200, 'hello'));
    const { host } = new URL(server.url);
    const seen: RequestSeen[] = [];
    const onRequest: RequestListener = (request) => seen.push(request);
    const connection = connect(t, { access: openAccess(server.url), onRequest });
    await read(connection, '/yes');
    await read(connection, '/no');
    (await connection.post('/new', { a: 1 }, NEVER)).discard();
    await server[Symbol.asyncDispose]();
    await assert.rejects(read(connection));
    assert.deepEqual(
      seen.map((each) => [each.method, each.status, each.requestBytes, each.host]),
      [
        ['GET', 200, 0, host],
        ['GET', 404, 0, host],
        ['POST', 200, 7, host],
        ['GET', undefined, 0, host],
      ],
    );
    assert.ok(seen.every(({ durationMs }) => durationMs > 0));
  });

  it('keeps the path of a server behind a gateway', async (t) => {
    const server = await serve(t, (x) => x.answer(200, x.path));
    const access = openAccess(new URL('/k8s/clusters/c1/', server.url));
    assert.equal(await read(connect(t, { access }), '/api'), '200 /k8s/clusters/c1/api');
  });

  it('fails on a truncated body', async (t) => {
    const server = await serve(t, (x) => {
      x.watch();
      x.stream.write('half', () => server.resetConnections());
    });
    const connection = connect(t, { access: openAccess(server.url) });
    await assert.rejects(read(connection), { code: 'CLUSTER_CONNECTION_LOST' });
  });

  it('ends immediately when aborted', async (t) => {
    const server = await serve(t, (x) => x.watch());
    const connection = connect(t, { access: openAccess(server.url) });
    const stop = new AbortController();
    const answer = await connection.get('/x', stop.signal);
    const reading = answer.body().next();
    stop.abort(new Error('stop'));
    await assert.rejects(reading, /stop/);
  });
});

describe('Answer.follow', () => {
  async function followed(t: TestContext, onRequest: (exchange: Exchange) => void) {
    const server = await serve(t, onRequest);
    const connection = connect(t, { access: openAccess(server.url) });
    const stop = new AbortController();
    return { server, stop, answer: await connection.get('/x', stop.signal) };
  }

  it('passes the whole body, and ends', async (t) => {
    const { answer } = await followed(t, (x) => x.answer(200, 'all of it'));
    let text = '';
    await answer.follow((part) => {
      text += part;
      return 'more';
    });
    assert.equal(text, 'all of it');
  });

  it('passes no more chunks after onPart has enough or throws', async (t) => {
    const endless = (x: Exchange): void => {
      x.watch();
      const timer = setInterval(() => x.stream.write('part'), 1);
      x.stream.on('close', () => clearInterval(timer));
    };
    let count = 0;
    const first = await followed(t, endless);
    await first.answer.follow(() => (++count === 2 ? 'enough' : 'more'));
    assert.equal(count, 2);
    const second = await followed(t, endless);
    const unbearable = new Error('unbearable');
    await assert.rejects(
      second.answer.follow(() => {
        count++;
        throw unbearable;
      }),
      unbearable,
    );
    assert.equal(count, 3);
  });

  it('rejects with the reason: truncated, aborted, stalled, or lost before it was read', async (t) => {
    const cut = await followed(t, (x) => {
      x.watch();
      x.stream.write('half');
    });
    const lost = { code: 'CLUSTER_CONNECTION_LOST' };
    await assert.rejects(
      cut.answer.follow(() => {
        cut.server.resetConnections();
        return 'more';
      }),
      lost,
    );
    await assert.rejects(
      cut.answer.follow(() => 'more'),
      lost,
    );
    const stopped = await followed(t, (x) => x.watch());
    const reading = stopped.answer.follow(() => 'more');
    stopped.stop.abort(new Error('stop'));
    await assert.rejects(reading, /stop/);
    const silent = await followed(t, (x) => x.watch());
    silent.answer.limitSilence(20);
    await assert.rejects(
      silent.answer.follow(() => 'more'),
      { code: 'CLUSTER_STALLED' },
    );
  });
});

describe('Connection to a server that is down', () => {
  it('is unreachable when the connection is refused', async (t) => {
    const server = await FakeApiServer.start((x) => x.watch());
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const connection = connect(t, { access: openAccess(url) });
    await assert.rejects(read(connection), { code: 'CLUSTER_UNREACHABLE' });
  });

  it('times out when a new connection stays silent', async (t) => {
    const silent = net.createServer((socket) => t.after(() => socket.destroy()));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as net.AddressInfo;
    const access = openAccess(new URL(`https://127.0.0.1:${port}`));
    const connection = connect(t, { access, connectDeadlineMs: 50 });
    await assert.rejects(read(connection), { code: 'CLUSTER_TIMEOUT' });
  });

  it('times out when no response starts', async (t) => {
    const server = await serve(t, () => undefined);
    const connection = connect(t, { access: openAccess(server.url), answerDeadlineMs: 50 });
    await assert.rejects(read(connection), { code: 'CLUSTER_TIMEOUT' });
  });

  it('notices a server that vanished by its silence', async (t) => {
    const server = await serve(t, (x) => x.watch());
    // A relay that stops passing anything on, as a machine without power does.
    let isDead = false;
    const relay = net.createServer((near) => {
      const far = net.connect(server.port, '127.0.0.1');
      near.on('data', (data) => isDead || far.write(data));
      far.on('data', (data) => isDead || near.write(data));
      for (const socket of [near, far]) socket.on('error', () => undefined);
      t.after(() => [near, far].map((socket) => socket.destroy()));
    });
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    t.after(() => relay.close());
    const { port } = relay.address() as net.AddressInfo;
    const connection = connect(t, {
      access: openAccess(new URL(`http://127.0.0.1:${port}`)),
      keepAlive: { quietMs: 30, answerMs: 60 },
    });
    const answer = await connection.get('/x', NEVER);
    const reading = answer.body().next();
    const begun = connection.lastHeardAtMs;
    await until('answered pings', () => connection.lastHeardAtMs > begun + 60);
    isDead = true;
    await assert.rejects(reading, {
      code: 'CLUSTER_CONNECTION_LOST',
      message: /no response from the API server/,
    });
  });
});

describe('Connection, token', () => {
  it('fetches a rejected token again, once', async (t) => {
    const server = await serve(t, (x) => {
      const isGood = x.headers.authorization === 'Bearer second';
      x.answer(isGood ? 200 : 401, '');
    });
    const tokens = ['first', 'second', 'third'].map((token) => new Secret(token));
    const rejected: unknown[] = [];
    const access: ClusterAccess = openAccess(server.url, {
      token: async () => tokens[0],
      rejected: (token) => {
        rejected.push(token);
        tokens.shift();
      },
    });
    const connection = connect(t, { access });
    assert.equal(await read(connection), '200 ');
    assert.equal(rejected.length, 1);
    tokens.shift();
    assert.equal(await read(connection), '401 ', 'and not for ever');
    assert.equal(server.requests.length, 4);
  });
});

describe('Connection over TLS', () => {
  const authority = makeCertificate({ name: 'authority' });
  const forServer = makeCertificate({
    name: 'server',
    hosts: ['api.example', '127.0.0.1'],
    issuer: authority,
  });
  const forClient = makeCertificate({ name: 'client', issuer: authority });

  async function serveEncrypted(t: TestContext) {
    const server = await FakeApiServer.start((x) => x.answer(200, 'ok'), {
      cert: forServer.certificate,
      key: forServer.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    });
    t.after(() => server[Symbol.asyncDispose]());
    return server;
  }

  const good: TlsMaterial = {
    isUnverified: false,
    certificateAuthority: authority.certificate,
    clientCertificate: forClient.certificate,
    clientKey: new Secret(forClient.key),
  };
  const cases: Record<string, readonly [host: string, tls: TlsMaterial, expected: RegExp]> = {
    'by address, with a client certificate': ['127.0.0.1', good, /^200 ok$/],
    'by another name than is on the certificate': [
      'localhost',
      good,
      /^CLUSTER_TLS TLS handshake .* failed: certificate does not include this host name$/,
    ],
    'by the name that was given for it': [
      'localhost',
      { ...good, serverName: 'api.example' },
      /^200 ok$/,
    ],
    'with an authority that did not sign it': [
      '127.0.0.1',
      { ...good, certificateAuthority: makeCertificate({ name: 'other' }).certificate },
      /^CLUSTER_TLS TLS handshake with 127.* failed: certificate signed by an unknown authority$/,
    ],
    'with another authority, when nobody wants to look': [
      '127.0.0.1',
      {
        ...good,
        certificateAuthority: makeCertificate({ name: 'other' }).certificate,
        isUnverified: true,
      },
      /^200 ok$/,
    ],
    'without the client certificate that it wants': [
      '127.0.0.1',
      { isUnverified: false, certificateAuthority: authority.certificate },
      /^CLUSTER_(TLS|UNREACHABLE|CONNECTION_LOST) /,
    ],
    'with a key that is none': [
      '127.0.0.1',
      { ...good, clientKey: new Secret('hunter2') },
      /^CLUSTER_TLS TLS handshake/,
    ],
  };
  for (const [name, [host, tls, expected]] of Object.entries(cases)) {
    it(name, async (t) => {
      const server = await serveEncrypted(t);
      const url = new URL(`https://${host}:${server.port}`);
      const connection = connect(t, {
        access: openAccess(url, { tls: async () => tls }),
        dial: (_, port) => net.connect(port, '127.0.0.1'),
      });
      const result = await read(connection).catch((error) => {
        assert.doesNotMatch(describeError(error), /hunter2/);
        return `${error.code} ${error.message}`;
      });
      assert.match(result, expected);
    });
  }
});

describe('Connection through a proxy', () => {
  async function proxy(t: TestContext, status: number) {
    const asked: (string | undefined)[] = [];
    const server = http.createServer();
    server.on('connect', (request, socket: net.Socket) => {
      asked.push(request.url, request.headers['proxy-authorization']);
      if (status !== 200) {
        socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
        return;
      }
      const [, port] = (request.url ?? '').split(':');
      const far = net.connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(far).pipe(socket);
      });
      for (const end of [socket, far]) end.on('error', () => undefined);
      t.after(() => [socket, far].map((end) => end.destroy()));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const { port } = server.address() as net.AddressInfo;
    return { asked, url: new Secret(`http://user:hunter2@127.0.0.1:${port}`) };
  }

  it('reaches the server', async (t) => {
    const server = await serve(t, (x) => x.answer(200, 'ok'));
    const { asked, url } = await proxy(t, 200);
    const connection = connect(t, { access: openAccess(server.url, { proxyUrl: url }) });
    assert.equal(await read(connection), '200 ok');
    const user = Buffer.from('user:hunter2').toString('base64');
    assert.deepEqual(asked, [`127.0.0.1:${server.port}`, `Basic ${user}`]);
  });

  it('reports a rejection by the proxy without its password', async (t) => {
    const { url } = await proxy(t, 403);
    const server = new URL('https://10.0.0.1:6443');
    const connection = connect(t, { access: openAccess(server, { proxyUrl: url }) });
    const error = await read(connection).catch((reason) => reason);
    assert.equal(error.code, 'CLUSTER_PROXY');
    assert.match(error.message, /403/);
    assert.doesNotMatch(describeError(error), /hunter2/);
  });
});
