import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../../../linux/netlink/testing/own-namespace.ts';
import { type Host, SERVED_PORT, startHost } from '../../../../../linux/testing/hosts/host.ts';
import { raiseOpenFiles } from '../../../../../linux/userspace/raise-open-files.ts';
import type { FromThread } from '../thread-messages.ts';
import {
  connected,
  converse,
  ENDPOINT,
  eventually,
  startNode,
  type TestNode,
} from './testing/own-node.ts';

const MOST = 8;
let node: TestNode;
/** Clients in another process, whose descriptors do not count here. */
let host: Host;

before(async () => {
  node = await startNode({ mostConnections: MOST });
  host = await startHost('clients', { here: true });
});
after(async () => {
  host.close();
  await node.close();
});

function limitOpenFiles(limit: number): void {
  run(['prlimit', '--pid', String(process.pid), `--nofile=${limit}:`]);
}

/** The limit that leaves so many descriptors. */
function limitWithFree(wanted: number): number {
  const used = new Set(readdirSync('/proc/self/fd').map(Number));
  let limit = 0;
  for (let free = 0; free < wanted; limit++) if (!used.has(limit)) free += 1;
  return limit;
}

function served() {
  const slot = node.newSlot();
  const frontend = node.newFrontend();
  node.main.setList(frontend.port, [{ slot, address: ENDPOINT, port: SERVED_PORT }]);
  node.main.setTarget(frontend, { list: frontend.port });
  return { slot, frontend };
}

async function pulse(): Promise<{ readonly open: number; readonly hasRoom: boolean }> {
  const answer = await node.main.ask({ tell: 'pulse' });
  assert.equal(answer.tell, 'pulse');
  const { open, hasRoom } = answer as Extract<FromThread, { tell: 'pulse' }>;
  return { open, hasRoom };
}

describe('limits', () => {
  it('resets connections above its limit, tells that it has no room, and serves again', async () => {
    const { slot, frontend } = served();
    const clients = await Promise.all(Array.from({ length: MOST }, () => connected(frontend)));
    await eventually(() => node.main.count(slot, 'connections') === MOST, 'it is full');
    assert.equal((await pulse()).hasRoom, true);
    assert.equal(await converse(frontend, 'more'), 'ECONNRESET');
    assert.deepEqual(await pulse(), { open: MOST, hasRoom: false });
    for (const client of clients) client.resetAndDestroy();
    await eventually(() => node.main.openCount(slot) === 0, 'all are closed');
    const again = await connected(frontend);
    await eventually(() => node.main.count(slot, 'connections') === MOST + 1, 'it is served');
    assert.equal((await pulse()).hasRoom, true);
    again.resetAndDestroy();
    await eventually(() => node.main.openCount(slot) === 0, 'all are closed');
  });

  it('waits for descriptors without spinning, and serves all when there are some', async () => {
    const { slot, frontend } = served();
    const failed = node.main.threadCount('failed');
    // Room for two pairs and a half.
    limitOpenFiles(limitWithFree(5));
    try {
      const peer = { transport: 'TCP', ...frontend } as const;
      const held = await Promise.all(Array.from({ length: 6 }, () => host.hold(peer)));
      await eventually(() => node.main.count(slot, 'connections') >= 2, 'some are served');
      const before = process.cpuUsage();
      await delay(500);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 250_000, `${user + system} µs of CPU in 500 ms`);
      assert.ok(node.main.count(slot, 'connections') < 6, 'it has no descriptors for all');
      raiseOpenFiles(4096);
      for (const { speak } of held) assert.equal((await speak()).by, 'clients');
      assert.equal(node.main.count(slot, 'connections'), 6);
      assert.equal(node.main.threadCount('failed'), failed);
    } finally {
      raiseOpenFiles(4096);
    }
  });

  it('passes on one hop less than the client had left, so that no connection runs in circles', async () => {
    const many = await startNode();
    const [frontend, slot] = [many.newFrontend(), many.newSlot()];
    many.main.setList(frontend.port, [{ slot, ...frontend }]);
    many.main.setTarget(frontend, { list: frontend.port });
    assert.equal(await converse(frontend, ''), 'ECONNRESET');
    const opened = many.main.count(slot, 'connections');
    assert.ok(opened > 30 && opened <= 64, `${opened} connections`);
    await eventually(() => many.main.openCount(slot) === 0, 'all are closed');
    await many.close();
  });
});
