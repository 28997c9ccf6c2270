import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ask } from './testing/serve-pages.ts';

/** The kubelet's default. */
const PROBE_TIMEOUT_MS = 1_000;

it('does not respond while the event loop is blocked, and responds correctly afterwards', async (t) => {
  const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const server = new Worker(join(import.meta.dirname, 'testing/stuck-server.ts'), {
    workerData: gate,
  });
  t.after(() => server.terminate());
  const [port] = (await once(server, 'message')) as [number];
  const url = `http://127.0.0.1:${port}/livez`;
  assert.equal((await ask(url)).status, 200);
  server.postMessage('stop');
  assert.deepEqual(await once(server, 'message'), ['stuck']);
  const probe = fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  await assert.rejects(probe, { name: 'TimeoutError' });
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  assert.equal((await ask(url)).status, 200);
});
