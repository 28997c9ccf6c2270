import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pulse } from './forwarder-protocol.ts';
import { ForwarderWatch } from './forwarder-watch.ts';
import { HandOver } from './hand-to-forwarder.ts';
import type { ForwarderKeeper } from './keeper.ts';
import type { RunningForwarder } from './running.ts';

/** One beat of a watch whose forwarder answers this. */
async function beaten(pulse: Partial<Pulse>) {
  const stop = new AbortController();
  const link = { isOpen: true, ended: new Promise(() => undefined), ask: async () => answer };
  const answer = {
    openConnections: 1,
    mostConnections: 100,
    accepts: true,
    isDraining: false,
    ...pulse,
  };
  const hello = { pid: 7, ports: { IPv4: { pod: 1, host: 2, outside: 3 }, IPv6: null } };
  const running = { hello, pid: 7, work: link, pulse: link } as unknown as RunningForwarder;
  const keeper = { current: running, silence: { end: () => stop.abort() } };
  const seen = { drifts: [] as string[], distrusts: [] as string[], isOn: false };
  const handOver = new HandOver(async () => undefined);
  const watched = {
    keeper: keeper as unknown as ForwarderKeeper,
    handOver,
    isFilled: () => true,
    distrust: async (why: string) => void seen.distrusts.push(why),
    refresh: async () => undefined,
  };
  await new ForwarderWatch(watched, ({ what }) => seen.drifts.push(what)).run(stop.signal);
  return { ...seen, isOn: handOver.isOn };
}

test('hands over to a forwarder that accepts, and not to one that is full', async () => {
  assert.deepEqual(await beaten({}), { drifts: [], distrusts: [], isOn: true });
  assert.deepEqual(await beaten({ accepts: false }), { drifts: [], distrusts: [], isOn: false });
});

test('asks for another forwarder when one was told to end, while that still has its connections', async () => {
  assert.deepEqual(await beaten({ accepts: false, isDraining: true }), {
    drifts: ['the forwarder (pid 7) received a request to end'],
    distrusts: ['it is draining'],
    isOn: false,
  });
});
