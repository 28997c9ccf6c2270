import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { runCommand } from '../commands/run.ts';
import { leavingWith, scratchWithout } from './scratch.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 120_000;

it('says which mode a build lacks that the configuration names', async () => {
  await using scratch = await scratchWithout(ROOT, leavingWith(['ipvs']));
  const path = join(scratch.folder, 'config.yaml');
  await writeFile(
    path,
    'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: ipvs\n',
  );
  const { ok, output } = await runCommand({
    program: process.execPath,
    args: ['src/main.ts', 'run', '--config', path, '--run-folder', join(scratch.folder, 'run')],
    folder: scratch.folder,
    env: process.env,
    timeoutMs: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  assert.equal(ok, false);
  assert.match(output, /this build lacks mode ipvs/);
  assert.match(output, /use one of its modes \(nftables, iptables,/);
});
