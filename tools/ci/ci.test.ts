import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Part } from './part.ts';

const PLANTED = join(import.meta.dirname, 'testing/planted.ts');

function planted(name: string, script: string, seconds: number): Part {
  const command = ['sh', '-c', script] as const;
  const budget = { cached: seconds, cold: seconds };
  return { name, about: name, command, plans: ['run', 'nightly'], budget };
}

const FINE = planted('fine', 'echo all is well', 30);
const FAILS = planted('fails', 'echo broken; exit 3', 30);
/** Ends by itself, a little after its budget and long before it would be ended. */
const LATE = planted('late', 'sleep 1.2', 1);
/** Neither it nor what it starts listens to SIGTERM. */
const HANGS = planted('hangs', 'trap "" TERM; sleep 600 & echo $! > hanging; wait', 1);

describe('the runner', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-ci-'));
  });
  after(() => rm(folder, { recursive: true }));

  function start(parts: readonly Part[], ...args: string[]): ChildProcess {
    const argv = [PLANTED, folder, JSON.stringify(parts), ...args];
    const env = { ...process.env, CI: '' };
    return spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], env });
  }

  async function run(
    parts: readonly Part[],
    ...args: string[]
  ): Promise<{ code: number; lines: string[]; last: string }> {
    const child = start(parts, ...args);
    const [output, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      once(child, 'exit'),
    ]);
    const lines = output.trim().split('\n');
    return { code: code as number, lines, last: lines.at(-1) ?? '' };
  }

  async function summary(
    of: 'ci' | 'nightly',
  ): Promise<{ failed?: string; parts: { name: string; failure?: string }[] }> {
    return JSON.parse(await readFile(join(folder, 'dist', of, 'summary.json'), 'utf8'));
  }

  it('shows what parts print, passes when all pass, and keeps their figures', async () => {
    const { code, lines, last } = await run([FINE, planted('good', 'true', 30)], 'run');
    assert.equal(code, 0);
    assert.ok(lines.includes('all is well'));
    assert.match(last, /^\.ci\/run: all 2 parts passed in/);
    const { failed, parts } = await summary('ci');
    assert.equal(failed, undefined);
    assert.deepEqual(
      parts.map(({ name }) => name),
      ['fine', 'good'],
    );
    assert.equal(await readFile(join(folder, 'dist/ci/fine.log'), 'utf8'), 'all is well\n');
  });

  it('keeps all that a part prints, though it ends right after', async () => {
    const script = 'i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i + 1)); done';
    await run([planted('talks', script, 30)], 'nightly');
    const log = await readFile(join(folder, 'dist/nightly/talks.log'), 'utf8');
    assert.equal(log.split('\n').at(-2), 'line 19999');
  });

  it('does not wait for a process of another group that keeps the output open', async () => {
    const script =
      "setsid sh -c 'echo $$ > other; exec sleep 600' & while ! test -s other; do :; done";
    const { code } = await run([planted('leaves', script, 30)], 'run');
    assert.equal(code, 0);
    // Throws if it has ended: then it was waited for.
    process.kill(Number(await readFile(join(folder, 'other'), 'utf8')), 'SIGKILL');
  });

  it('says so when a program cannot be started', async () => {
    const part = { ...FINE, command: ['fairlead-no-such-program'] as const };
    assert.match(
      (await run([part], 'run')).last,
      /FAILED in: fine \(cannot start fairlead-no-such/,
    );
  });

  it('names a part that fails, in its last line, and runs nothing after it', async () => {
    const { code, last } = await run([FAILS, FINE], 'run');
    assert.equal(code, 1);
    assert.equal(last, '.ci/run: FAILED in: fails (exit code 3)');
    assert.deepEqual(
      (await summary('ci')).parts.map(({ name }) => name),
      ['fails'],
    );
  });

  it('names a part that succeeds after its budget', async () => {
    const { code, last } = await run([LATE, FINE], 'run');
    assert.equal(code, 1);
    assert.match(last, /^\.ci\/run: FAILED in: late \(over its budget: \d\.\d s of 1 s\)$/);
  });

  it('ends a part that hangs with all that it started, and names it', async () => {
    process.env['PLANTED_HANG_FACTOR'] = '1.5';
    const { code, last } = await run([HANGS], 'run');
    delete process.env['PLANTED_HANG_FACTOR'];
    assert.equal(code, 1);
    assert.equal(
      last,
      '.ci/run: FAILED in: hangs (ended: still running after 1.5 s, with a budget of 1 s)',
    );
    await gone(Number(await readFile(join(folder, 'hanging'), 'utf8')));
  });

  it('does not end a part for the time that the host took', async () => {
    process.env['PLANTED_HANG_FACTOR'] = '1.1';
    process.env['PLANTED_STOLEN_SECONDS'] = '30';
    const { code } = await run([LATE], 'run');
    delete process.env['PLANTED_HANG_FACTOR'];
    delete process.env['PLANTED_STOLEN_SECONDS'];
    assert.equal(code, 0);
  });

  it('continues after failures in nightly, and names the first of them last', async () => {
    const { code, lines, last } = await run([FAILS, LATE, FINE], 'nightly');
    assert.equal(code, 1);
    assert.ok(!lines.includes('all is well'), 'what parts print is in their logs');
    assert.equal(last, '.ci/nightly: FAILED in: fails (exit code 3), and 1 more');
    const results = (await summary('nightly')).parts.map(({ name, failure }) => [
      name,
      failure !== undefined,
    ]);
    assert.deepEqual(results, [
      ['fails', true],
      ['late', true],
      ['fine', false],
    ]);
  });

  it('resumes with what has not passed, and keeps what has', async () => {
    const repaired = planted('fails', 'true', 30);
    const { code, lines } = await run(
      [repaired, planted('late', 'true', 30), FINE],
      'nightly',
      '--resume',
    );
    assert.equal(code, 0);
    const started = lines
      .filter((line) => /^===== \S+ \(/.test(line))
      .map((line) => line.split(' ')[1]);
    assert.deepEqual(started, ['fails', 'late']);
    assert.equal((await summary('nightly')).parts.length, 3);
  });

  it('runs only the requested parts, and rejects an unknown name', async () => {
    const { lines } = await run([FINE, FAILS], 'nightly', '--only', 'fine');
    assert.deepEqual(lines.filter((line) => line.startsWith('===== ')).length, 2);
    assert.equal((await run([FINE], 'nightly', '--only', 'fin')).code, 2);
  });

  it('passes or fails by the requested parts alone, whatever the record has of others', async () => {
    await run([FINE, FAILS], 'nightly');
    const { code, last } = await run([FINE, FAILS], 'nightly', '--only', 'fine');
    assert.equal(code, 0);
    assert.match(last, /all 1 parts passed/);
    assert.equal((await summary('nightly')).failed, 'fails');
  });

  it('checks parts that the script has done before against their budgets', async () => {
    const { command: _, ...before } = planted('npm-packages', 'true', 40);
    assert.equal((await run([before, FINE], 'run', '--spent', 'npm-packages=40')).code, 0);
    const { code, last } = await run([before, FINE], 'run', '--spent', 'npm-packages=41');
    assert.equal(code, 1);
    assert.equal(last, '.ci/run: FAILED in: npm-packages (over its budget: 41.0 s of 40 s)');
    const fetched = { ...before, budget: { cached: 40, cold: 180 } };
    const options = ['--spent', 'npm-packages=41', '--cold', 'npm-packages'];
    assert.equal((await run([fetched, FINE], 'run', ...options)).code, 0);
  });

  it('gives the part that builds its cold budget when something has to be built', async () => {
    const missing = 'test "$1" = --missing && echo build etcd || sleep 1.2';
    const budget = { cached: 1, cold: 30 };
    const command = ['sh', '-c', missing, 'sh'] as const;
    const parts = [{ ...planted('lab-parts', '', 1), command, budget }, LATE];
    const { last } = await run(parts, 'run');
    assert.match(last, /FAILED in: late/);
    const builtAlready = ['sh', '-c', 'test "$1" = --missing || sleep 1.2', 'sh'] as const;
    const warm = await run(
      [{ ...planted('lab-parts', '', 1), command: builtAlready, budget }],
      'run',
    );
    assert.match(warm.last, /FAILED in: lab-parts/);
  });

  it('lets a part end cleanly when interrupted, and runs no other', async () => {
    const script = 'trap "echo removed; exit 7" TERM; echo begun; sleep 600 & wait';
    const child = start([planted('long', script, 600), FINE], 'run');
    const output = text(child.stdout as NodeJS.ReadableStream);
    await appears(join(folder, 'dist/ci/long.log'), 'begun');
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    assert.equal(code, 1);
    assert.match((await output).trim(), /FAILED in: long \(ended: interrupted by SIGINT\)$/);
    assert.match(await readFile(join(folder, 'dist/ci/long.log'), 'utf8'), /removed/);
  });
});

const DEADLINE_MS = 20_000;

async function appears(file: string, word: string): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await readFile(file, 'utf8').catch(() => '')).includes(word)) {
    assert.ok(performance.now() < deadline, `no '${word}' in ${file}`);
    await delay(20);
  }
}

async function gone(pid: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  const isThere = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
      throw error;
    }
  };
  while (isThere()) {
    assert.ok(performance.now() < deadline, `process ${pid} is still there`);
    await delay(20);
  }
}
