import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { runProgramToEnd } from '../../linux/run-program.ts';
import { copyCommand, packCommand, unpackCommand } from './install.ts';

const USER = 1000;
const DOCS = join(import.meta.dirname, '../../../docs/outside.md');

it('gives root the files of a user, and leaves the folders of the machine alone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead copy's-"));
  t.after(() => rm(folder, { recursive: true }));
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  for (const path of ['etc/fairlead', 'var/lib/fairlead']) {
    await mkdir(join(from, path), { recursive: true });
  }
  await writeFile(join(from, 'etc/fairlead/kubeconfig'), 'secret', { mode: 0o600 });
  for (const path of ['etc/fairlead/kubeconfig', 'etc/fairlead', 'etc', '.']) {
    await chown(join(from, path), USER, USER);
  }
  await chmod(join(from, 'etc'), 0o700);
  await mkdir(join(to, 'etc'), { recursive: true });
  await chmod(join(to, 'etc'), 0o755);
  const { exitCode } = await runProgramToEnd({
    command: 'sh',
    args: ['-c', `${packCommand(from)} | ${unpackCommand(to)}`],
    env: {},
    timeoutMs: 60_000,
  });
  assert.equal(exitCode, 0);
  const look = async (path: string) => {
    const { uid, gid, mode } = await stat(join(to, path));
    return { uid, gid, mode: (mode & 0o777).toString(8) };
  };
  assert.deepEqual(await look('etc'), { uid: 0, gid: 0, mode: '755' });
  assert.deepEqual(await look('etc/fairlead/kubeconfig'), { uid: 0, gid: 0, mode: '600' });
  assert.equal((await look('.')).uid, 0);
});

it('is the command of the documentation', async () => {
  assert.ok((await readFile(DOCS, 'utf8')).includes(copyCommand('db1', 'db1')));
});
