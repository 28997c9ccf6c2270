import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tryRun } from '../host/run.ts';
import { until } from '../host/until.ts';

const MAIN = join(import.meta.dirname, '../main.ts');
const DEADLINE_MS = 120_000;

let folder = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-guest-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function inGuest(script: string, of: { out?: string } = {}) {
  const options = of.out === undefined ? [] : ['--out', of.out];
  const argv = ['kernel', 'run', ...options, '--', 'sh', '-c', script];
  return await tryRun([process.execPath, MAIN, ...argv], { deadlineMs: DEADLINE_MS });
}

describe('a command in the other kernel', () => {
  it('has its own exit code, output and error output', async () => {
    const { exitCode, stdout, stderr } = await inGuest('seq 1 5000; echo fault >&2; exit 7');
    assert.equal(exitCode, 7);
    assert.equal(stdout, `${Array.from({ length: 5000 }, (_, index) => index + 1).join('\n')}\n`);
    assert.match(stderr, /^fault$/m);
  });

  it('finds what the ipvs mode and its tests need', async () => {
    const { exitCode, stdout, stderr } = await inGuest(
      'set -e; ip link add d0 type dummy; tc qdisc add dev d0 root netem delay 5ms loss 5%;' +
        'test -e /proc/net/ip_vs; test -e /proc/net/sctp/eps;' +
        'nft add table inet t; nft add set inet t s "{ type ipv4_addr; flags timeout; }";' +
        'test -e /sys/fs/cgroup/cgroup.procs; uname -r',
    );
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^6\./);
  });

  it('writes folders that stay inside, except those that are asked for', async () => {
    const docs = join(folder, 'docs');
    await mkdir(join(docs, 'soak'), { recursive: true });
    await writeFile(join(docs, 'untouched.md'), 'before');
    const script = `echo inside > ${docs}/soak.md; echo inside > ${docs}/soak/ipvs.json`;
    const { exitCode } = await inGuest(script, { out: docs });
    assert.equal(exitCode, 0);
    const read = (name: string) => readFile(join(docs, name), 'utf8');
    assert.equal(await read('soak.md'), 'inside\n');
    assert.equal(await read('soak/ipvs.json'), 'inside\n');
    assert.equal(await read('untouched.md'), 'before');
  });

  it('writes files that stay inside, except those that are asked for', async () => {
    const [kept, lost] = ['kept', 'lost'].map((name) => join(folder, name));
    await writeFile(lost ?? '', 'before');
    const script = `echo inside > ${kept}; echo inside > ${lost}; exit 3`;
    const { exitCode } = await inGuest(script, { out: kept ?? '' });
    assert.equal(exitCode, 3);
    assert.equal(await readFile(kept ?? '', 'utf8'), 'inside\n');
    assert.equal(await readFile(lost ?? '', 'utf8'), 'before');
  });

  it('leaves no process behind when it is interrupted', async () => {
    const script = `echo started; sleep 1000 # ${folder}`;
    const started = Promise.withResolvers<string>();
    const argv = [process.execPath, MAIN, 'kernel', 'run', '--', 'sh', '-c', script] as const;
    const running = tryRun(argv, { deadlineMs: DEADLINE_MS, onStdout: started.resolve });
    await started.promise;
    const [program = ''] = await processes('-f', `kernel run .*${folder}`);
    const [guest = ''] = await processes('-P', program);
    process.kill(Number(program), 'SIGINT');
    assert.equal((await running).exitCode, 130);
    await until(async () => (await processes('-g', guest)).length === 0, {
      what: 'the end of all processes of the guest',
      deadlineMs: 5_000,
    });
  });
});

/** Their ids, by the options of pgrep. */
async function processes(...options: string[]): Promise<string[]> {
  const { stdout } = await tryRun(['pgrep', ...options]);
  return stdout.split('\n').filter((pid) => pid !== '');
}
