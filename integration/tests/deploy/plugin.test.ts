import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run, tryRun } from '../../../lab/host/run.ts';

const root = join(import.meta.dirname, '../../..');
const url = 'https://releases.example/kubectl-fairlead.tar.gz';

/** As krew unpacks it, on a machine that has Node and kubectl and nothing else. */
describe('the kubectl plugin', () => {
  let folder: string;
  let archive: string;
  let platform: { uri: string; sha256: string; bin: string; files: { from: string }[] };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-plugin-'));
    await run([process.execPath, join(root, 'tools/plugin.ts'), '--url', url]);
    const manifest = JSON.parse(await readFile(join(root, 'dist/krew/fairlead.yaml'), 'utf8'));
    platform = manifest.spec.platforms[0];
    archive = join(root, `dist/krew/kubectl-fairlead-${manifest.spec.version}.tar.gz`);
    await run(['tar', '-xzf', archive, '-C', folder]);
  });
  after(() => rm(folder, { recursive: true }));

  /** kubectl here is a program that the test gives. */
  async function ask(kubectl: string, ...args: string[]) {
    await writeFile(join(folder, 'kubectl'), `#!/bin/sh\n${kubectl}\n`);
    await chmod(join(folder, 'kubectl'), 0o755);
    const path = [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
    return await tryRun([join(folder, platform.bin), ...args], {
      cwd: folder,
      env: { PATH: path },
    });
  }

  it('has the address and the digest of its archive in the manifest, and all of its files', async () => {
    const digest = createHash('sha256')
      .update(await readFile(archive))
      .digest('hex');
    assert.deepEqual([platform.uri, platform.sha256], [url, digest]);
    for (const { from } of platform.files) await run(['test', '-e', join(folder, from)]);
  });

  it('starts where nothing else is installed, and needs no native code', async () => {
    const help = await ask('exit 1', '--help');
    assert.match(help.stdout, /^Usage: kubectl fairlead/);
    assert.ok(!(await readFile(join(folder, platform.bin), 'utf8')).includes('koffi'));
  });

  it('calls kubectl with the cluster that was chosen, and says what it complains of', async () => {
    const args = ['status', '--context', 'prod', '--kubeconfig', '/k'];
    const { exitCode, stderr } = await ask('echo "called with $*" >&2; exit 1', ...args);
    assert.equal(exitCode, 1);
    assert.match(stderr, /called with --kubeconfig=\/k --context=prod get (nodes|pods)/);
  });

  it('ends a kubectl that does not answer', async () => {
    const { exitCode, stderr } = await ask('exec sleep 60', 'status', '--timeout', '1');
    assert.equal(exitCode, 1);
    assert.match(stderr, /no answer within 1 s/);
  });
});
