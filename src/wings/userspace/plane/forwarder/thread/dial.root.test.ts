import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import {
  connected,
  converse,
  ENDPOINT,
  eventually,
  readAll,
  SILENT,
  startNode,
  type TestNode,
} from './testing/own-node.ts';

let node: TestNode;

before(async () => {
  node = await startNode();
});
after(() => node.close());

function refusing() {
  return { slot: node.newSlot(), address: ENDPOINT, port: 1 };
}

function silent() {
  return { slot: node.newSlot(), address: SILENT, port: 80 };
}

describe('dialling', () => {
  it('goes on to another endpoint when one rejects, and avoids it', async () => {
    const live = await node.serve((socket) => socket.end('live'));
    const dead = refusing();
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [dead, live]);
    node.main.setTarget(frontend, { list: frontend.port });
    for (let count = 0; count < 50; count++) assert.equal(await converse(frontend, ''), 'live');
    const refused = node.main.count(dead.slot, 'refused');
    assert.ok(refused >= 1 && refused <= 3, `${refused} attempts, although it is avoided`);
    assert.equal(node.main.count(live.slot, 'connections'), 50);
    assert.notEqual(Atomics.load(new Int32Array(node.main.memory.avoided), dead.slot), 0);
  });

  it('goes on to another endpoint when one is silent', async () => {
    const live = await node.serve((socket) => socket.end('live'));
    const dead = silent();
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [dead, live]);
    node.main.setTarget(frontend, { list: frontend.port });
    for (let count = 0; count < 20; count++) assert.equal(await converse(frontend, ''), 'live');
    assert.equal(node.main.count(dead.slot, 'timedOut'), 1);
  });

  it('resets the connection when no endpoint is left', async () => {
    const frontend = node.newFrontend();
    const failed = node.main.threadCount('failed');
    const dead = [refusing(), refusing(), refusing(), refusing()];
    node.main.setList(frontend.port, dead);
    node.main.setTarget(frontend, { list: frontend.port });
    assert.equal(await converse(frontend, ''), 'ECONNRESET');
    const attempts = dead.reduce((sum, { slot }) => sum + node.main.count(slot, 'refused'), 0);
    assert.equal(attempts, 3);
    assert.equal(node.main.threadCount('failed'), failed + 1);
  });

  it('clears the avoidance of an endpoint that accepts again', async () => {
    const live = await node.serve((socket) => socket.end('live'));
    const frontend = node.newFrontend();
    const avoided = new Int32Array(node.main.memory.avoided);
    Atomics.store(avoided, live.slot, 1);
    node.main.setList(frontend.port, [live]);
    node.main.setTarget(frontend, { list: frontend.port });
    assert.equal(await converse(frontend, ''), 'live');
    assert.equal(Atomics.load(avoided, live.slot), 0);
  });

  it('dials another endpoint at once when the one it waits for leaves the list', async () => {
    const live = await node.serve((socket) => socket.end('live'));
    const dead = silent();
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [dead]);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    const answer = readAll(client);
    await eventually(() => node.main.openCount(dead.slot) === 1, 'it is dialled');
    node.main.setList(frontend.port, [live]);
    node.main.tell({ tell: 'gone', slots: [dead.slot] });
    // The only endpoint would have had ten seconds.
    assert.equal(await answer, 'live');
    assert.equal(node.main.count(dead.slot, 'timedOut'), 0);
    assert.equal(node.main.openCount(dead.slot), 0);
    client.destroy();
  });

  it('sends new connections to the endpoint with fewer open ones', async () => {
    const sockets: Socket[] = [];
    const slow = await node.serve((socket) => sockets.push(socket));
    const fast = await node.serve((socket) => socket.end('fast'));
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [slow, fast]);
    node.main.setTarget(frontend, { list: frontend.port });
    const clients: Socket[] = [];
    for (let count = 0; count < 100; count++) {
      const client = await connected(frontend);
      client.on('error', () => undefined);
      client.on('end', () => client.end());
      client.resume();
      clients.push(client);
      await eventually(
        () =>
          node.main.count(slow.slot, 'connections') + node.main.count(fast.slot, 'connections') ===
          count + 1,
        'it is accepted',
      );
    }
    const share = node.main.count(slow.slot, 'connections');
    // Random alone would give it half of all.
    assert.ok(share < 45, `${share} of 100 went to the endpoint that keeps its connections`);
    for (const socket of [...clients, ...sockets]) socket.destroy();
  });

  it('asks the main thread for every connection of a sticky row', async () => {
    const first = await node.serve((socket) => socket.end('first'));
    const dead = refusing();
    const frontend = node.newFrontend();
    const asked: (readonly number[])[] = [];
    node.main.onStick = ({ client, row, list, not }) => {
      assert.deepEqual([client, row, list], ['10.9.0.1', frontend.port, 'cluster']);
      asked.push(not);
      return not.length === 0 ? dead.slot : first.slot;
    };
    node.main.setList(frontend.port, [first, dead]);
    node.main.setTarget(frontend, { list: frontend.port, isSticky: true });
    const client = await connected(frontend, '10.9.0.1');
    assert.equal(await readAll(client), 'first');
    assert.deepEqual(asked, [[], [dead.slot]]);
    node.main.onStick = () => null;
    assert.equal(await converse(frontend, ''), 'ECONNRESET');
    client.destroy();
  });

  it('gives up a dial when its client is gone', async () => {
    const dead = [silent(), silent()];
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, dead);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    const open = (): number => dead.reduce((sum, { slot }) => sum + node.main.openCount(slot), 0);
    await eventually(() => open() === 1, 'it is dialled');
    client.resetAndDestroy();
    // The last candidate would have had ten seconds more.
    await eventually(() => open() === 0, 'the dial is given up');
  });
});
