import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Forwarding } from '../../forwarding/model.ts';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import { change } from '../shared/testing/plane-change.ts';
import { bring, newPlane, nft } from './testing/nftables-kernel.ts';
import { FACTS, row } from './testing/nftables-rows.ts';

/** Events of a few rows already do not fit. */
const SMALL_BUFFER_BYTES = 8192;
const LONGEST_WAIT_MS = 10_000;

let rows: readonly Forwarding[];

before(() => {
  rows = Array.from({ length: 50 }, (_, number) => row({ number, endpointCount: 40 }));
});
beforeEach(enterOwnNetwork);

async function until(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS;
  while (!isTrue() && performance.now() < deadlineMs) await turn();
}

/** Iterations of the event loop, in each of which a readable socket is read. */
async function letRead(): Promise<void> {
  for (let turns = 0; turns < 500; turns++) await turn();
}

describe('events that the kernel could not deliver', () => {
  it('are no drift if all were our own, and are drift if another process was among them', async () => {
    const plane = newPlane({ receiveBufferBytes: SMALL_BUFFER_BYTES });
    await bring(plane, { facts: FACTS, rows: [] });
    const told: string[] = [];
    const stop = new AbortController();
    using _ = { [Symbol.dispose]: () => stop.abort() };
    const watching = plane.watch(({ what }) => told.push(what), stop.signal);
    await letRead();
    for (let round = 0; round < 3; round++) {
      await plane.apply(rows.map((each) => change('absent', each)));
      await plane.apply(rows.map((each) => change(each, undefined)));
      await letRead();
    }
    nft('add element ip fairlead service-ips { 10.96.7.7 }');
    await until(() => told.length > 0);
    assert.match(told[0] ?? '', /added ip fairlead set service-ips/, 'nothing was told before it');
    const many = Array.from({ length: 4000 }, (_, i) => `198.51.${i >> 8}.${i & 255}`);
    nft(`add element ip fairlead service-ips { ${many.join(', ')} }`);
    await until(() => told.length > 1);
    assert.match(told[1] ?? '', /kernel events were lost/);
    stop.abort();
    await watching;
    assert.equal(told.length, 2);
  });
});
