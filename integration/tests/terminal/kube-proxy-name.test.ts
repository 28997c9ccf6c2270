import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { firstLine, MAIN, started } from './started.ts';

/** A link to the program, as the image has it at /usr/local/bin/kube-proxy. */
async function kubeProxy(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-name-'));
  t.after(() => rm(folder, { recursive: true }));
  const program = join(folder, 'kube-proxy');
  await symlink(MAIN, program);
  return { folder, run: async (...args: string[]) => await started(program, args) };
}

describe('a link named kube-proxy', () => {
  it('starts "run" with the flags of kubeadm', async (t) => {
    const { folder, run } = await kubeProxy(t);
    const file = join(folder, 'none.conf');
    const { exitCode, stderr } = await run(`--config=${file}`, '--hostname-override=n', '-v=2');
    assert.equal(exitCode, 1);
    assert.ok(firstLine(stderr).startsWith(`--config: cannot read ${file}: ENOENT`), stderr);
  });

  it('does what the root flags of kube-proxy ask for', async (t) => {
    const { folder, run } = await kubeProxy(t);
    const file = join(folder, 'written.yaml');
    const written = await run('--proxy-mode=iptables', '--write-config-to', file);
    assert.deepEqual(written, { exitCode: 0, stdout: '', stderr: '' });
    assert.match(await readFile(file, 'utf8'), /^mode: iptables$/m);
  });
});
