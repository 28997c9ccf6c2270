import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { enterOwnNetwork, run } from '../../linux/netlink/testing/own-namespace.ts';
import { NftConnection } from '../../linux/nftables/nft-connection.ts';
import { listenToNftables } from '../../linux/nftables/nftables-events.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import { openOwnSockets } from './own-sockets.ts';

const DEADLINE_MS = 30_000;

beforeEach(enterOwnNetwork);

test('an event socket skips what request sockets of the same origin write', async () => {
  const open = openOwnSockets(openNetfilter);
  using events = open('events');
  const heard: string[] = [];
  const stop = new AbortController();
  const listener = {
    onEvent: ({ table }: { table: string }) => void heard.push(table),
    onCommit: () => undefined,
    onOverrun: () => undefined,
  };
  const listening = listenToNftables(events, listener, stop.signal);
  for (const name of ['first', 'second']) {
    using connection = new NftConnection(open('requests'));
    const batch = connection.begin();
    batch.addTable({ family: 'ip', name });
    await connection.commit(batch);
    // Heard before the socket is closed, and its number forgotten.
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  }
  run(['nft', 'add', 'table', 'ip', 'theirs']);
  const late = AbortSignal.timeout(DEADLINE_MS);
  while (heard.length === 0 && !late.aborted) await delay(2);
  assert.deepEqual(heard, ['theirs']);
  stop.abort();
  await listening;
});
