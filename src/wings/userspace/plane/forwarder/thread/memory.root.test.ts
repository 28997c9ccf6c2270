import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../../../../linux/netlink/testing/own-namespace.ts';
import { BLOCK_BYTES } from './blocks.ts';
import { connected, eventually, startNode, type TestNode } from './testing/own-node.ts';

const MEGABYTE = 1_000_000;
const OFFERED_BYTES = 64 * MEGABYTE;
const QUIET_MS = 300;

let node: TestNode;

before(async () => {
  node = await startNode();
});
after(() => node.close());

/** Kernel memory of the sockets that match: received and not read, written and not acknowledged. */
function socketMemory(filter: string): { readonly count: number; readonly bytes: number } {
  const sockets = run(['ss', '-Htmn', ...filter.split(' ')]).matchAll(/skmem:\(([^)]*)\)/g);
  let [count, bytes] = [0, 0];
  for (const [, text = ''] of sockets) {
    const fields = text.split(',');
    // The kernel may owe some: a negative number, which ss prints without its sign.
    const value = (name: RegExp): number =>
      Number(fields.find((field) => name.test(field))?.replace(/^\D+/, '') ?? 0) | 0;
    count += 1;
    // r: receive queue; w: send queue with its overhead; f: reserved; o: options; bl: backlog.
    bytes += value(/^r\d/) + value(/^w\d/) + value(/^f\d/) + value(/^o\d/) + value(/^bl\d/);
  }
  return { count, bytes };
}

/** Resolves when no more is copied. */
async function untilStuck(slot: number): Promise<void> {
  let [last, sinceMs] = [-1, 0];
  for (;;) {
    const count = node.main.count(slot, 'bytesToEndpoint') + node.main.count(slot, 'bytesToClient');
    if (count !== last) [last, sinceMs] = [count, performance.now()];
    else if (count > 0 && performance.now() - sinceMs > QUIET_MS) return;
    await delay(20);
  }
}

describe('memory of a connection', () => {
  it('is at most 1 MB when the endpoint never reads', async () => {
    const endpoint = await node.serve((socket) => socket.pause());
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    client.on('error', () => undefined);
    client.write(Buffer.alloc(OFFERED_BYTES));
    await untilStuck(endpoint.slot);
    const toClient = socketMemory(`sport = :${node.main.listener.port}`);
    const toEndpoint = socketMemory(`dport = :${endpoint.port}`);
    assert.deepEqual([toClient.count, toEndpoint.count], [1, 1]);
    const bytes = toClient.bytes + toEndpoint.bytes + BLOCK_BYTES;
    assert.ok(bytes < MEGABYTE, `${toClient.bytes} + ${toEndpoint.bytes} + ${BLOCK_BYTES} bytes`);
    client.resetAndDestroy();
    await eventually(() => node.main.openCount(endpoint.slot) === 0, 'it is closed');
  });

  it('is at most 1 MB when the client never reads', async () => {
    const peers: Socket[] = [];
    const endpoint = await node.serve((socket) => {
      peers.push(socket);
      socket.write(Buffer.alloc(OFFERED_BYTES));
    });
    const frontend = node.newFrontend();
    node.main.setList(frontend.port, [endpoint]);
    node.main.setTarget(frontend, { list: frontend.port });
    const client = await connected(frontend);
    client.on('error', () => undefined);
    client.pause();
    await untilStuck(endpoint.slot);
    const toClient = socketMemory(`sport = :${node.main.listener.port}`);
    const toEndpoint = socketMemory(`dport = :${endpoint.port}`);
    assert.deepEqual([toClient.count, toEndpoint.count], [1, 1]);
    const bytes = toClient.bytes + toEndpoint.bytes + BLOCK_BYTES;
    assert.ok(bytes < MEGABYTE, `${toClient.bytes} + ${toEndpoint.bytes} + ${BLOCK_BYTES} bytes`);
    client.resetAndDestroy();
    await eventually(() => node.main.openCount(endpoint.slot) === 0, 'it is closed');
  });
});
