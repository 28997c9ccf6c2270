import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from './fill.ts';
import type { ForwarderLink } from './link.ts';
import type { Request, WireChange } from './protocol.ts';

function rowOf(number: number, endpointCount: number): WireChange {
  const cluster = Array.from(
    { length: endpointCount },
    (_, at) => `10.0.${at >> 8}.${at & 255} 80`,
  );
  const key = `default/service-${number}/TCP/IPv4`;
  return { set: { key, affinitySeconds: 0, frontends: [], cluster, local: [] } };
}

/** How many changes each message had. */
async function sent(changes: readonly WireChange[]): Promise<number[]> {
  const messages: WireChange[][] = [];
  const ask = async (request: Request) => {
    if (request.do === 'apply') messages.push([...request.changes]);
    return { rowCount: 0 };
  };
  await send({ ask } as unknown as Pick<ForwarderLink, 'ask'>, changes, 1000);
  assert.deepEqual(messages.flat(), changes);
  return messages.map(({ length }) => length);
}

test('sends few rows of many endpoints in one message, and many of few', async () => {
  assert.deepEqual(await sent([]), []);
  assert.deepEqual(
    await sent(Array.from({ length: 1200 }, (_, at) => rowOf(at, 2))),
    [500, 500, 200],
  );
  // Together they would exceed what the forwarder takes in one message.
  assert.deepEqual(
    await sent([rowOf(1, 1), rowOf(2, 80_000), rowOf(3, 80_000), rowOf(4, 1)]),
    [1, 1, 1, 1],
  );
});
