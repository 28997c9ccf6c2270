import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { openHttpServer } from './http.ts';
import type { ServerError } from './server-error.ts';
import { readCounters, readStatus } from './status-client.ts';
import { runStatusSocket, type StatusSocketOptions } from './status-socket.ts';
import { type Served, serve } from './testing/serve-pages.ts';
import { serving } from './testing/serving-server.ts';

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-status-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

const NO_ROWS: Pick<StatusSocketOptions, 'node' | 'rows' | 'history'> = {
  node: () => {
    throw new TypeError('not asked here');
  },
  rows: () => ({ rows: [] }),
  history: () => {
    throw new TypeError('not asked here');
  },
};

async function started(
  t: TestContext,
  path: string,
  more: Partial<StatusSocketOptions> = {},
): Promise<Served> {
  const snapshot = (): unknown => ({ mode: 'nftables' });
  const counters = async (): Promise<unknown> => [{ connections: 7 }];
  return await serve(t, (hooks, signal) =>
    runStatusSocket({ path, snapshot, counters, ...NO_ROWS, ...hooks, ...more }, signal),
  );
}

describe('the status socket', () => {
  it('serves the status', async (t) => {
    const socketPath = join(await folder(t), 'new', 'status.sock');
    const { stop } = await started(t, socketPath);
    assert.equal((await stat(socketPath)).mode & 0o777, 0o600);
    assert.deepEqual(await readStatus({ socketPath }), { mode: 'nftables' });
    assert.deepEqual(await readCounters({ socketPath }), [{ connections: 7 }]);
    await stop();
    assert.equal(existsSync(socketPath), false);
  });

  it('replaces the socket of a crashed process', async (t) => {
    const socketPath = join(await folder(t), 'status.sock');
    await leaveSocketBehind(socketPath);
    assert.ok(existsSync(socketPath));
    await started(t, socketPath);
    assert.deepEqual(await readStatus({ socketPath }), { mode: 'nftables' });
  });

  it('keeps a socket in use and other files', async (t) => {
    const inUse = join(await folder(t), 'status.sock');
    await started(t, inUse, { snapshot: () => 'first' });
    const file = join(await folder(t), 'status.sock');
    await writeFile(file, 'mine');
    for (const path of [inUse, file]) {
      const { message } = await firstProblem(t, path);
      assert.match(message, /EADDRINUSE/);
    }
    assert.equal(await readStatus({ socketPath: inUse }), 'first');
    assert.ok((await stat(file)).isFile());
  });
});

describe('status socket, silent clients', () => {
  it('disconnects them beyond the limit, and serves others', async (t) => {
    const socketPath = join(await folder(t), 'status.sock');
    await started(t, socketPath);
    const [first] = await silentClients(t, { socketPath, count: 65 });
    await until('the first is disconnected', () => first?.destroyed === true);
    assert.deepEqual(await readStatus({ socketPath }), { mode: 'nftables' });
  });

  it('disconnects a client that does not close after its response', async (t) => {
    const socketPath = join(await folder(t), 'status.sock');
    await started(t, socketPath);
    const socket = net.connect({ path: socketPath, allowHalfOpen: true });
    t.after(() => socket.destroy());
    socket.resume();
    socket.write('GET /status HTTP/1.0\r\n\r\n');
    await once(socket, 'end');
    socket.on('error', () => socket.destroy());
    await until('the server has closed', () => {
      socket.write('x');
      return socket.destroyed;
    });
    assert.deepEqual(await readStatus({ socketPath }), { mode: 'nftables' });
  });
});

describe('status client', () => {
  it('reports that no agent is running', async (t) => {
    const socketPath = join(await folder(t), 'status.sock');
    await assert.rejects(readStatus({ socketPath }), { code: 'STATUS_UNREACHABLE' });
  });

  it('times out', async (t) => {
    const socketPath = join(await folder(t), 'status.sock');
    const silent = net.createServer((socket) => t.after(() => socket.destroy()));
    await once(silent.listen(socketPath), 'listening');
    t.after(() => silent.close());
    const asking = readStatus({ socketPath, timeoutMs: 20 });
    await assert.rejects(asking, { code: 'STATUS_TIMEOUT' });
  });

  it('rejects other responses', async (t) => {
    const socketPath = join(await folder(t), 'status.sock');
    const reply = (path: string) => ({
      status: path === '/status' ? 200 : 404,
      headers: {},
      body: 'x',
    });
    const other = await openHttpServer({ socketPath }, serving(reply));
    t.after(() => other.close());
    await assert.rejects(readStatus({ socketPath }), { code: 'STATUS_MALFORMED' });
    await assert.rejects(readCounters({ socketPath }), { code: 'STATUS_MALFORMED' });
  });
});

async function silentClients(
  t: TestContext,
  { socketPath, count }: { socketPath: string; count: number },
): Promise<net.Socket[]> {
  const sockets: net.Socket[] = [];
  while (sockets.length < count) {
    const socket = net.connect(socketPath);
    t.after(() => socket.destroy());
    socket.on('error', () => socket.destroy());
    // Without a request it would be closed after 5 s, however few there are.
    socket.write('GET /status HTTP/1.1\r\nHost: node\r\n\r\n');
    await once(socket, 'data');
    sockets.push(socket);
  }
  return sockets;
}

/** A socket file without a listener: renamed, so that its server does not find it to remove. */
async function leaveSocketBehind(path: string): Promise<void> {
  const server = net.createServer();
  await once(server.listen(`${path}.tmp`), 'listening');
  await rename(`${path}.tmp`, path);
  const closed = once(server, 'close');
  server.close();
  await closed;
}

async function firstProblem(t: TestContext, path: string): Promise<ServerError> {
  const stop = new AbortController();
  const told = Promise.withResolvers<ServerError>();
  const running = runStatusSocket(
    {
      path,
      snapshot: () => 'second',
      counters: async () => [],
      ...NO_ROWS,
      onProblem: told.resolve,
    },
    stop.signal,
  );
  t.after(() => stop.abort());
  const problem = await told.promise;
  stop.abort();
  await running;
  return problem;
}
