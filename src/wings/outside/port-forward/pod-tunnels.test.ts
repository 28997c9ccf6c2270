import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { dialDirectly } from '../../../cluster/api-socket.ts';
import { Secret } from '../../../cluster/secret.ts';
import { statusObject } from '../../../cluster/testing/fake-api-server.ts';
import { openAccess } from '../../../cluster/testing/open-access.ts';
import { PodTunnels, type PodTunnelsOptions } from './pod-tunnels.ts';
import { type FarConnection, PortForwardServer, pingFrame } from './testing/port-forward-server.ts';

const WEB = { namespace: 'shop', name: 'web-1' };

/** Answers each connection with its port, and ends it. */
function greet(connection: FarConnection): void {
  connection.tunnel.reply(connection);
  connection.tunnel.data(connection.dataId, `port ${connection.port}`);
  connection.tunnel.end(connection);
}

async function serving(onConnection: (connection: FarConnection) => void) {
  return await new PortForwardServer(onConnection).start();
}

function tunnelsTo(server: PortForwardServer, parts: Partial<PodTunnelsOptions> = {}): PodTunnels {
  const access = openAccess(server.url);
  return new PodTunnels({ access, dial: dialDirectly, userAgent: 'fairlead/test', ...parts });
}

async function readAndEnd(stream: Duplex): Promise<string> {
  stream.end();
  const all = await text(stream);
  if (!stream.closed) await once(stream, 'close');
  return all;
}

describe('connections through the API server', () => {
  it('use one tunnel one after the other, below the path and with the token of the server', async () => {
    await using server = await serving(greet);
    const token = async () => new Secret('right');
    const tunnels = tunnelsTo(server, { access: openAccess(server.url, { token }) });
    for (const port of [80, 81, 82]) {
      assert.equal(await readAndEnd(await tunnels.connect(WEB, port)), `port ${port}`);
    }
    const [request] = server.requests;
    assert.equal(request?.url, '/base/api/v1/namespaces/shop/pods/web-1/portforward');
    assert.equal(request?.headers.authorization, 'Bearer right');
    assert.deepEqual(
      [server.requests.length, tunnels.counts().openedTotal, tunnels.counts().idle],
      [1, 1, 1],
    );
    tunnels.close();
    assert.equal(tunnels.counts().open, 0);
  });

  it('have a tunnel each while they are open, so that one that is not read stops no other', async () => {
    const block = Buffer.alloc(32 * 1024, 1);
    await using server = await serving((connection) => {
      if (connection.port !== 1) return greet(connection);
      connection.tunnel.reply(connection);
      for (let sent = 0; sent < 1024; sent++) connection.tunnel.data(connection.dataId, block);
    });
    const tunnels = tunnelsTo(server);
    const unread = await tunnels.connect(WEB, 1);
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 2)), 'port 2');
    assert.ok(unread.readableLength <= 4 * unread.readableHighWaterMark);
    assert.ok((server.tunnels[0]?.socket.writableLength ?? 0) > 0, 'the server is slowed down');
    assert.equal(tunnels.counts().open, 2);
    unread.on('error', () => undefined).destroy();
    tunnels.close();
  });

  it('pass bytes and the end of a client on, and the answers behind them', async () => {
    const all = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    const ended = Promise.withResolvers<FarConnection>();
    await using server = await serving((connection) => {
      connection.tunnel.reply(connection);
      const timer = setInterval(() => {
        if (!connection.isEnded) return;
        clearInterval(timer);
        ended.resolve(connection);
      }, 5);
    });
    const tunnels = tunnelsTo(server);
    const stream = await tunnels.connect(WEB, 80);
    stream.end(all);
    const connection = await ended.promise;
    assert.ok(Buffer.concat(connection.received).equals(all));
    connection.tunnel.data(connection.dataId, 'after the end');
    connection.tunnel.end(connection);
    assert.equal(await text(stream), 'after the end');
    tunnels.close();
  });

  it('end with what the far end says, on a tunnel that is not used again', async () => {
    await using server = await serving((connection) => {
      connection.tunnel.reply(connection);
      connection.tunnel.end(connection, 'connect to 80: connection refused');
    });
    const tunnels = tunnelsTo(server);
    const failed = async () => await text(await tunnels.connect(WEB, 80));
    await assert.rejects(failed, {
      code: 'POD_UNREACHABLE',
      message: 'pod shop/web-1: connect to 80: connection refused',
    });
    assert.equal(tunnels.counts().open, 0);
  });

  it('are tried on a new tunnel when the used one was closed meanwhile', async () => {
    await using server = await serving((connection) => {
      const isSecond = connection.tunnel === server.tunnels[0] && connection.dataId > 3;
      if (isSecond) connection.tunnel.socket.destroy();
      else greet(connection);
    });
    const tunnels = tunnelsTo(server);
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 80)), 'port 80');
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 81)), 'port 81');
    assert.equal(server.tunnels.length, 2);
    tunnels.close();
  });

  it('end as lost when the tunnel breaks, and not as complete', async () => {
    await using server = await serving((connection) => {
      connection.tunnel.reply(connection);
      connection.tunnel.data(connection.dataId, 'half', false);
      connection.tunnel.socket.end();
    });
    const tunnels = tunnelsTo(server);
    const broken = async () => await text(await tunnels.connect(WEB, 80));
    await assert.rejects(broken, { code: 'CLUSTER_CONNECTION_LOST' });
  });

  it('close their tunnel when the client aborts them', async () => {
    await using server = await serving((connection) => connection.tunnel.reply(connection));
    const tunnels = tunnelsTo(server);
    const stream = await tunnels.connect(WEB, 80);
    const [far] = server.tunnels;
    assert.ok(far);
    const closed = once(far.socket, 'close');
    stream.on('error', () => undefined).destroy();
    await closed;
    assert.deepEqual([far.isClosedByClient, tunnels.counts().open], [true, 0]);
  });

  it('answer pings', async () => {
    const answered = Promise.withResolvers<void>();
    await using server = await serving((connection) => {
      connection.tunnel.send(pingFrame(7), 5);
      const timer = setInterval(() => {
        if (!connection.tunnel.controls.some(({ type, body }) => type === 6 && body[3] === 7))
          return;
        clearInterval(timer);
        greet(connection);
        answered.resolve();
      }, 5);
    });
    const tunnels = tunnelsTo(server);
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 80)), 'port 80');
    await answered.promise;
    tunnels.close();
  });
});

describe('the number of tunnels', () => {
  it('is bounded: an idle one of another pod makes room, and then a connection waits', async () => {
    await using server = await serving((connection) => {
      if (connection.port === 1) connection.tunnel.reply(connection);
      else greet(connection);
    });
    const tunnels = tunnelsTo(server, { mostTunnels: 1 });
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 80)), 'port 80');
    const held = await tunnels.connect({ ...WEB, name: 'web-2' }, 1);
    assert.deepEqual(tunnels.counts(), {
      open: 1,
      idle: 0,
      openedTotal: 2,
      connectionsTotal: 2,
      waiting: 0,
    });
    const waiting = tunnels.connect(WEB, 82);
    assert.equal(tunnels.counts().waiting, 1);
    held.on('error', () => undefined).destroy();
    assert.equal(await readAndEnd(await waiting), 'port 82');
    tunnels.close();
  });

  it('shrinks when they are idle', async () => {
    await using server = await serving(greet);
    const tunnels = tunnelsTo(server, { idleMs: 1 });
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 80)), 'port 80');
    const [far] = server.tunnels;
    if (far && !far.socket.closed) await once(far.socket, 'close');
    assert.equal(tunnels.counts().open, 0);
  });
});

describe('a rejected port-forward', () => {
  it('names the right that is missing', async () => {
    await using server = await serving(greet);
    server.rejections.push({ status: 403, body: JSON.stringify(statusObject(403)) });
    const tunnels = tunnelsTo(server);
    await assert.rejects(tunnels.connect(WEB, 80), (error: { next?: string; status?: number }) => {
      assert.match(String(error.next), /get and create on pods\/portforward in namespace shop/);
      return error.status === 403;
    });
    assert.equal(tunnels.counts().open, 0);
  });

  it('is asked again with another token after 401', async () => {
    await using server = await serving(greet);
    server.rejections.push({ status: 401, body: '' });
    const rejected: unknown[] = [];
    const access = openAccess(server.url, {
      token: async () => new Secret(`token ${rejected.length}`),
      rejected: (token) => rejected.push(token),
    });
    const tunnels = tunnelsTo(server, { access });
    assert.equal(await readAndEnd(await tunnels.connect(WEB, 80)), 'port 80');
    assert.equal(server.requests[1]?.headers.authorization, 'Bearer token 1');
    tunnels.close();
  });

  it('says that an API server before 1.31 does not offer it', async () => {
    await using server = await serving(greet);
    server.rejections.push({ status: 400, body: 'unable to upgrade' });
    await assert.rejects(tunnelsTo(server).connect(WEB, 80), { code: 'CLUSTER_NO_WEBSOCKET' });
  });
});
