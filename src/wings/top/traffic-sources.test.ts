import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { runStatusSocket } from '../../agent/servers/status-socket.ts';
import { TrafficPages } from '../../agent/servers/traffic-pages.ts';
import { ForwardingTable } from '../../forwarding/table.ts';
import { endpoint, service, slice, view } from '../../forwarding/testing/example-objects.ts';
import { type AgentSource, agentSource } from './traffic-sources.ts';

/** More than two pages. */
const SERVICES = 2_100;

/** What an agent with this table answers on its socket. */
async function sourceOf(t: TestContext, table: ForwardingTable): Promise<AgentSource> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-sources-'));
  const path = join(folder, 'status.sock');
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  const unasked = (): never => assert.fail('not asked here');
  const plane = { read: unasked };
  const serving = runStatusSocket(
    {
      path,
      ...{ snapshot: unasked, counters: unasked, node: unasked, rows: unasked, history: unasked },
      traffic: new TrafficPages({ run: 'run', table: () => table, plane, monotonicMs: () => 0 }),
      onProblem: opened.reject,
      onOpen: () => opened.resolve(),
    },
    stop.signal,
  );
  t.after(async () => {
    stop.abort();
    await serving;
    await rm(folder, { recursive: true, force: true });
  });
  await opened.promise;
  return agentSource(path);
}

it('reads all Services, and none again while endpoints change', async (t) => {
  const table = new ForwardingTable(view());
  for (let n = 0; n < SERVICES; n++) {
    table.putService(service({ name: `web-${n}`, clusterIPs: [`10.96.${n >> 8}.${n & 255}`] }));
  }
  const source = await sourceOf(t, table);
  const setEndpoints = (...addresses: readonly string[]): void => {
    const endpoints = addresses.map((address) => endpoint(address));
    table.putSlice(slice(endpoints, { service: 'web-7' }));
    table.takeChanges();
  };
  setEndpoints('10.0.0.1');
  const all = await source.served();
  assert.equal(new Set(all?.ports.map(([key]) => key)).size, SERVICES);

  setEndpoints('10.0.0.2', '10.0.0.3');
  assert.equal(await source.served(all?.version), undefined);

  setEndpoints();
  const rejected = await source.served(all?.version);
  const states = rejected?.ports.filter(([key]) => key.startsWith('ns/web-7/'));
  assert.deepEqual(
    states?.map(([, , verdict]) => verdict),
    ['reject'],
  );

  table.deleteService('ns/web-7');
  const less = await source.served(rejected?.version);
  assert.equal(less?.ports.length, SERVICES - 1, 'before anybody has taken the changes');
});
