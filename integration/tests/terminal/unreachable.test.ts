import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { MAIN } from './started.ts';

const DEADLINE_MS = 50_000;
/** No process listens there. */
const KUBECONFIG = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9' } }],
  users: [{ name: 'u', user: {} }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
};

it('names an API server that it cannot reach once, with the reason, and all that it waits for', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-unreachable-'));
  t.after(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(KUBECONFIG));
  await chmod(kubeconfig, 0o600);
  const stop = new AbortController();
  let said = '';
  const running = tryRun([process.execPath, MAIN, 'services', '--kubeconfig', kubeconfig], {
    deadlineMs: DEADLINE_MS,
    signal: stop.signal,
    onStderr: (text) => {
      said += text;
    },
  });
  // Said two seconds after the start: many attempts have failed by then.
  const isWaiting = (): boolean => /^waiting for .*\n/m.test(said);
  await until(isWaiting, { what: 'what it waits for', deadlineMs: DEADLINE_MS });
  stop.abort();
  await assert.rejects(running);
  const lines = said.split('\n').filter((line) => line !== '');
  assert.equal(lines.length, 2, said);
  assert.match(lines[0] ?? '', /^warning: cannot reach 127\.0\.0\.1:9: .*ECONNREFUSED/);
  assert.match(lines[1] ?? '', /^waiting for service, slice, .*: cannot reach 127\.0\.0\.1:9: /);
  assert.equal(lines[1]?.match(/ECONNREFUSED/g)?.length, 1);
});
