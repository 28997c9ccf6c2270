import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { raiseOpenFiles } from '../../../../linux/sockets/raise-open-files.ts';
import { type Host, SERVED_PORT, startHost } from '../../../../linux/testing/hosts/host.ts';
import { connected, ENDPOINT, eventually, startNode, type TestNode } from './testing/own-node.ts';

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

async function openCount(): Promise<number> {
  const { open } = (await node.main.ask({ tell: 'pulse' })) as { open: number };
  return open;
}

describe('limits', () => {
  it('leaves connections above its limit in the queue until there is room', async () => {
    const { slot, frontend } = served();
    const clients = await Promise.all(Array.from({ length: MOST + 2 }, () => connected(frontend)));
    await eventually(() => node.main.count(slot, 'connections') === MOST, 'it is full');
    assert.equal(await openCount(), MOST);
    for (const client of clients.slice(0, 3)) client.resetAndDestroy();
    await eventually(() => node.main.count(slot, 'connections') >= MOST + 2, 'two more');
    for (const client of clients.slice(3)) client.resetAndDestroy();
    await eventually(() => node.main.openCount(slot) === 0, 'all are closed');
  });

  it('waits for descriptors without spinning, and serves all when there are some', async () => {
    const { slot, frontend } = served();
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
      assert.equal(node.main.threadCount('failed'), 0);
    } finally {
      raiseOpenFiles(4096);
    }
  });
});
