import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { MAIN, started } from './started.ts';

const DEADLINE_MS = 30_000;

async function run(...argv: [string, ...string[]]) {
  return await tryRun(argv, { deadlineMs: DEADLINE_MS });
}

async function isInstalled(program: string): Promise<boolean> {
  return (await run('sh', '-c', `command -v ${program}`)).exitCode === 0;
}

describe('the files for shells', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-shell-'));
    const written = await started(MAIN, ['completion', '--write', folder]);
    assert.deepEqual(written, { exitCode: 0, stdout: '', stderr: '' });
  });
  after(() => rm(folder, { recursive: true }));

  /** What bash offers for the last of the words. */
  async function offered(...words: string[]): Promise<readonly string[]> {
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fairlead
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const file = join(folder, 'completions/fairlead.bash');
    const { stdout, stderr } = await run('bash', '-c', script, 'bash', file, ...words);
    assert.equal(stderr, '');
    return stdout.trim().split('\n');
  }

  it('complete verbs, flags and values in a real bash', async () => {
    assert.deepEqual(await offered('fairlead', 'c'), ['config', 'cleanup', 'completion']);
    assert.deepEqual(await offered('fairlead', 'cleanup', '--dr'), ['--dry-run']);
    assert.deepEqual(await offered('fairlead', 'run', '--hostname-o'), ['--hostname-override']);
    assert.deepEqual(await offered('fairlead', 'completion', ''), [
      'bash',
      'zsh',
      'fish',
      '--write',
      '--help',
    ]);
    const modes = ['nftables', 'iptables', 'ipvs', 'socket-ebpf', 'tc-ebpf', 'userspace'];
    assert.deepEqual(await offered('fairlead', 'cleanup', '--mode', ''), modes);
    assert.deepEqual(await offered('fairlead', 'cleanup', '--mode', '=', 'ip'), [
      'iptables',
      'ipvs',
    ]);
    assert.deepEqual(await offered('fairlead', 'help', 'stat'), ['status']);
    assert.deepEqual(await offered('fairlead', 'outside', 'o'), ['off']);
    assert.deepEqual(await offered('fairlead', 'outside', 'init', '--app'), ['--apply']);
    assert.deepEqual(await offered('fairlead', 'outside', 'init', '--mode', 'nf'), ['nftables']);
    assert.deepEqual(await offered('fairlead', 'outside', 'dns', 'ap'), ['apply']);
    const config = join(folder, 'completions/fairlead.b');
    assert.deepEqual(await offered('fairlead', 'run', '--config', config), [`${config}ash`]);
  });

  it('can be read by zsh and fish, where they are installed', async (t) => {
    for (const [shell, name] of [
      ['zsh', '_fairlead'],
      ['fish', 'fairlead.fish'],
    ] as const) {
      const file = join(folder, 'completions', name);
      assert.match(await readFile(file, 'utf8'), /hostname-override/);
      if (!(await isInstalled(shell))) {
        t.diagnostic(`${shell} is not installed`);
        continue;
      }
      const { exitCode, stderr } = await run(shell, '-n', file);
      assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    }
  });

  it('have a manual page for the program and for each verb', async (t) => {
    const names = await readdir(join(folder, 'man'));
    for (const name of [
      'fairlead.8',
      'fairlead-run.8',
      'fairlead-cleanup.8',
      'fairlead-outside-init.8',
    ]) {
      assert.ok(names.includes(name), name);
    }
    if (!(await isInstalled('groff'))) return t.skip('groff is not installed');
    for (const name of names) {
      const file = join(folder, 'man', name);
      const { stdout, stderr } = await run('groff', '-man', '-Tascii', '-ww', '-P-cbou', file);
      assert.equal(stderr, '', name);
      assert.match(stdout, /^NAME\n +fairlead/m, name);
      assert.match(stdout, /^SEE ALSO$/m, name);
    }
  });
});
