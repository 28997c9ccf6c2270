import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { systemClock } from '../time/clock.ts';
import { until } from '../time/testing/until.ts';
import { type Dial, dialDirectly } from './api-socket.ts';
import { ApiSource } from './api-source.ts';
import type { SourceEvent } from './source.ts';
import { FakeApiServer, initialEnd } from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';

const ROUNDS = 20;

/** Every sleep lasts until it is ended by hand or by its signal. */
class HeldClock {
  readonly sleepers: (() => void)[] = [];
  readonly monotonicMs = systemClock.monotonicMs;
  readonly wallMs = systemClock.wallMs;

  async sleep(_ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.sleepers.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

function follow(t: TestContext, parts: { server: FakeApiServer; dial: Dial }) {
  const clock = new HeldClock();
  const connection = { access: openAccess(parts.server.url), dial: parts.dial };
  const source = new ApiSource({ connection, clock, nodeName: 'here' });
  const events: SourceEvent[] = [];
  const stop = new AbortController();
  const running = source.run((event) => events.push(event), stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await parts.server[Symbol.asyncDispose]();
  });
  return { clock, events };
}

it('retries all watches as soon as one of them reaches the server again', async (t) => {
  const server = await FakeApiServer.start((x) => x.watch(initialEnd(2)));
  let isReachable = false;
  const dial = (host: string, port: number) => {
    if (isReachable) return dialDirectly(host, port);
    return Promise.reject(new Error('unreachable'));
  };
  const { clock, events } = follow(t, { server, dial });
  await until('all watches to wait', () => clock.sleepers.length === 4);
  isReachable = true;
  clock.sleepers[2]?.();
  await until('all kinds', () => events.filter(({ type }) => type === 'synced').length === 4);
  assert.equal(server.connectionCount, 1);
});

it('backs off from a server that ends every watch at once', async (t) => {
  const server = await FakeApiServer.start((x) => {
    if (x.path === '/version') x.answer(200, { gitVersion: 'v1.37.1' });
    else x.watch(initialEnd(2)).end();
  });
  const { clock } = follow(t, { server, dial: dialDirectly });
  await until('all watches to wait', () => clock.sleepers.length === 4);
  const requestCount = server.requests.length;
  for (let round = 1; round <= ROUNDS; round++) {
    const waitCount = clock.sleepers.length;
    clock.sleepers.at(-1)?.();
    await until('the watch to wait again', () => clock.sleepers.length > waitCount);
  }
  assert.equal(server.requests.length, requestCount + ROUNDS);
});
