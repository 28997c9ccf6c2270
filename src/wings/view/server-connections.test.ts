import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../time/testing/until.ts';
import { OpenedView, TOKEN } from './testing/opened-view.ts';

const DEADLINE_MS = 10_000;

describe('connections to the server of `fairlead view`', () => {
  let view: OpenedView;
  const clients: { destroy(): void }[] = [];

  const open = async (places = {}): Promise<void> => {
    view = await OpenedView.open(
      { search: async (query) => ({ query, found: [], more: 0 }) },
      { places },
    );
  };

  /** A program of another user: it connects and does not know the token. */
  const connect = async (first = ''): Promise<net.Socket> => {
    const socket = net.connect(view.port, '127.0.0.1');
    socket.on('error', () => undefined);
    clients.push(socket);
    await once(socket, 'connect');
    if (first !== '') socket.write(first);
    return socket.resume();
  };

  beforeEach(() => open());

  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    view.close();
  });

  for (const count of [64, 200, 600]) {
    it(`answer the token while ${count} others without it stay idle`, async () => {
      for (let n = 0; n < count; n++) await connect();
      assert.equal((await view.get('/data/search?q=web')).status, 200);
    });
  }

  it('without the token are bounded, and the oldest ones close first', async () => {
    view.close();
    await open({ firstRequestMs: 60_000 });
    const closed: number[] = [];
    for (let n = 0; n < 300; n++) (await connect()).once('close', () => closed.push(n));
    await until('all but 256 are closed', () => closed.length >= 44);
    assert.deepEqual(
      closed.sort((a, b) => a - b),
      Array.from({ length: 44 }, (_, n) => n),
    );
  });

  it('answer the token among hundreds that come at the same time', async () => {
    const others = Array.from({ length: 300 }, () => connect('GET / HTTP/1.1\r\n'));
    const mine = Array.from({ length: 6 }, () => view.get('/data/search?q=web'));
    await Promise.all(others);
    for (const { status } of await Promise.all(mine)) assert.equal(status, 200);
  });

  it('of one with the token stay open, and others lose the oldest place', async () => {
    view.close();
    await open({ waiting: 2 });
    const agent = keepAlive();
    const { from } = await askBy(agent);
    const closed: number[] = [];
    for (let n = 0; n < 4; n++) (await connect()).once('close', () => closed.push(n));
    await until('two lose their places', () => closed.length === 2);
    assert.deepEqual(closed, [0, 1]);
    assert.equal((await askBy(agent)).from, from);
  });

  for (const [name, sent] of Object.entries({
    'says nothing': '',
    'sends its request byte by byte': 'G',
    'has a wrong token and does not read': 'GET /?token=wrong HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  })) {
    it(`close one that ${name}, and keep the one with the token`, async () => {
      view.close();
      await open({ firstRequestMs: 50 });
      const agent = keepAlive();
      const { from } = await askBy(agent);
      const other = await connect(sent);
      if (!other.closed) await once(other, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) });
      assert.equal((await askBy(agent)).from, from);
    });
  }

  it('end after an answer to a request that was not admitted', async () => {
    const agent = keepAlive();
    const first = await askBy(agent, { Authorization: 'Bearer wrong' });
    const second = await askBy(agent, { 'Sec-Fetch-Site': 'cross-site' });
    const third = await askBy(agent);
    assert.deepEqual([first.status, second.status, third.status], [401, 403, 200]);
    assert.equal(new Set([first.from, second.from, third.from]).size, 3);
    assert.equal((await askBy(agent)).from, third.from);
  });

  it('with the token are bounded too, and the oldest one goes first', async () => {
    view.close();
    await open({ admitted: 2 });
    const agents = [keepAlive(), keepAlive(), keepAlive()] as const;
    const ports = [];
    for (const agent of agents) ports.push((await askBy(agent)).from);
    assert.equal((await askBy(agents[1])).from, ports[1]);
    assert.equal((await askBy(agents[2])).from, ports[2]);
    assert.notEqual((await askBy(agents[0])).from, ports[0]);
  });

  function keepAlive(): http.Agent {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    clients.push(agent);
    return agent;
  }

  async function askBy(
    agent: http.Agent,
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number | undefined; readonly from: number | undefined }> {
    const headers = { Authorization: `Bearer ${TOKEN}`, ...more };
    const path = '/data/search?q=web';
    const request = http.get({ host: '127.0.0.1', port: view.port, path, agent, headers });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const { localPort: from } = response.socket;
    await once(response.resume(), 'end');
    return { status: response.statusCode, from };
  }
});
