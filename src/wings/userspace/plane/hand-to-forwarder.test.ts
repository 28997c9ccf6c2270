import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOver, type Ports } from './hand-to-forwarder.ts';

const PORTS: Ports = { IPv4: { pod: 1, host: 2, outside: 3 }, IPv6: null };

function written() {
  const writes: string[] = [];
  const held: (() => void)[] = [];
  const handOver = new HandOver(async (ports) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(resolve);
    await promise;
    writes.push(ports ? 'on' : 'off');
  });
  const settle = async (...calls: readonly Promise<void>[]) => {
    const all = Promise.all(calls);
    for (let round = 0; round < 20; round++) {
      for (const resolve of held.splice(0)) resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
  };
  return { handOver, writes, settle };
}

test('deletes what an agent before may have left, and then only what it wrote itself', async () => {
  const { handOver, writes, settle } = written();
  await settle(handOver.off('first'));
  await settle(handOver.off('second'));
  assert.deepEqual(writes, ['off']);
  assert.equal(handOver.why, 'second');
});

test('does not write a refresh after a deletion that was asked for later', async () => {
  const { handOver, writes, settle } = written();
  await settle(handOver.on(PORTS), handOver.on(PORTS), handOver.off('it ended'));
  assert.equal(writes.at(-1), 'off');
  assert.equal(handOver.isOn, false);
});

test('stays off once it is closed', async () => {
  const { handOver, writes, settle } = written();
  await settle(handOver.close('the agent ends'), handOver.on(PORTS));
  assert.deepEqual(writes, ['off']);
  assert.equal(handOver.isOn, false);
});

test('is not closed before a deletion that was asked for earlier is done', async () => {
  const { handOver, writes, settle } = written();
  await settle(handOver.on(PORTS));
  const off = handOver.off('it ended');
  const closed = handOver.close('the agent ends').then(() => writes.at(-1));
  await settle(off);
  assert.equal(await closed, 'off');
});

test('deletes again after a deletion that failed', async () => {
  let isFailing = true;
  const calls: unknown[] = [];
  const handOver = new HandOver(async (ports) => {
    calls.push(ports);
    if (isFailing) throw new Error('busy');
  });
  await assert.rejects(handOver.off('it ended'));
  isFailing = false;
  await handOver.off('it ended');
  assert.equal(calls.length, 2);
});
