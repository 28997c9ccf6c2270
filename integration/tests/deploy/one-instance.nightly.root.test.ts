import assert from 'node:assert/strict';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { becomeOnlyInstance } from '../../../src/commands/run/one-instance.ts';
import {
  enterOwnMounts,
  enterOwnNetwork,
  run,
} from '../../../src/linux/netlink/testing/own-namespace.ts';

const PROGRAM = join(import.meta.dirname, '../../../src/main.ts');
const LOCK = '/run/fairlead/run.lock';
const SYNCED = 'every Service is in the kernel';
const WAITING = 'another fairlead serves this network namespace; waiting for it to end';
/** A sysctl of the network namespace, with a value other than the kernel's default. */
const TIMEOUT = '/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_established';
const TIMEOUT_SECONDS = '4711';
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
/** Wide: it starts from source, on a machine where other tests run. */
const DEADLINE_MS = 120_000;

describe('two instances', () => {
  let folder: string;
  let first: Daemon;
  const others: Daemon[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-one-instance-'));
    enterOwnNetwork();
    enterOwnMounts();
    run(['mount', '-t', 'tmpfs', 'none', '/run']);
    mkdirSync(join(folder, 'objects'));
    first = start('first', []);
    await says(first, SYNCED);
  });

  afterEach(async () => {
    for (const daemon of others.splice(0)) await daemon.stop();
  });

  after(async () => {
    await first.stop();
    await rm(folder, { recursive: true });
  });

  function start(name: string, flags: readonly string[], inside: readonly string[] = []): Daemon {
    const argv = [
      ...inside,
      ...[process.execPath, PROGRAM, 'run', '-f', join(folder, 'objects')],
      // Each its own: the lock is of the network namespace, not of the folder.
      ...['--run-folder', join(folder, name), '--hostname-override', 'node1'],
      ...['--conntrack-max-per-core', '0', '--conntrack-tcp-timeout-close-wait', '0s', ...flags],
    ];
    const [program = '', ...rest] = argv;
    return startDaemon({
      name,
      namespacePath: `/proc/${process.pid}/ns/net`,
      argv: [program, ...rest],
      logFile: join(folder, `${name}.log`),
    });
  }

  function startOther(
    name: string,
    ...args: [flags: readonly string[], inside?: readonly string[]]
  ) {
    const daemon = start(name, ...args);
    others.push(daemon);
    return daemon;
  }

  async function says(daemon: Daemon, words: string): Promise<void> {
    const isSaid = (): boolean => readFileSync(daemon.logFile, 'utf8').includes(words);
    const what = `${daemon.name} to say ${words}`;
    await until(() => isSaid() || daemon.ended() !== undefined, { what, deadlineMs: DEADLINE_MS });
    assert.ok(isSaid(), readFileSync(daemon.logFile, 'utf8'));
  }

  async function endOf(daemon: Daemon): Promise<string> {
    const hasEnded = (): boolean => daemon.ended() !== undefined;
    await until(hasEnded, { what: `${daemon.name} to end`, deadlineMs: DEADLINE_MS });
    return daemon.ended() ?? '';
  }

  const wish = ['--conntrack-tcp-timeout-established', `${TIMEOUT_SECONDS}s`];
  const timeout = (): string => run(['cat', TIMEOUT]).trim();

  it('rejects the second after a wait, by the PID of the first, before it changes anything', async () => {
    const before = timeout();
    assert.notEqual(before, TIMEOUT_SECONDS);
    const second = startOther('second', wish);
    await says(second, WAITING);
    assert.match(await endOf(second), /\b4\b/);
    const said = readFileSync(second.logFile, 'utf8');
    assert.ok(
      said.includes(`another fairlead (pid ${first.pid}) serves this network namespace`),
      said,
    );
    assert.ok(said.includes('(ALREADY_RUNNING)'), said);
    assert.equal(timeout(), before);
    assert.equal(first.ended(), undefined);
  });

  it('lets a waiting one be stopped', async () => {
    const waiting = startOther('stopped', wish);
    await says(waiting, WAITING);
    process.kill(waiting.pid, 'SIGTERM');
    assert.match(await endOf(waiting), /\b0\b/);
    assert.notEqual(timeout(), TIMEOUT_SECONDS);
  });

  it('does not keep --init-only and status from working', async () => {
    const initial = startOther('initial', ['--init-only']);
    assert.match(await endOf(initial), /\b0\b/);
    run([process.execPath, PROGRAM, 'status', '--run-folder', join(folder, 'first')]);
  });

  it('serves another network namespace at the same time', async () => {
    const inside = ['unshare', '--net'];
    const elsewhere = startOther('elsewhere', [], inside);
    await says(elsewhere, SYNCED);
    assert.equal(readFileSync(elsewhere.logFile, 'utf8').includes(WAITING), false);
  });

  it('keeps the lock from users who are not root', async () => {
    assert.equal(statSync(LOCK).mode & 0o777, 0o600);
    const { exitCode, stderr } = await tryRun([...AS_NOBODY, 'flock', '--nonblock', LOCK, 'true']);
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /Permission denied/);
  });

  it('lets the second in when the first is killed, and the file that is left does not matter', async () => {
    const second = startOther('successor', wish);
    await says(second, WAITING);
    await first.kill();
    assert.ok(existsSync(LOCK));
    await says(second, SYNCED);
    assert.equal(timeout(), TIMEOUT_SECONDS);
  });
});

describe('the lock of the only instance', () => {
  const never = new AbortController().signal;

  it('is not waited for in a file of another user, who could hold it for good', async (t) => {
    const runFolder = await mkdtemp(join(tmpdir(), 'fairlead-one-instance-'));
    t.after(() => rm(runFolder, { recursive: true }));
    writeFileSync(join(runFolder, 'run.lock'), '');
    chownSync(join(runFolder, 'run.lock'), 65534, 65534);
    const warned: unknown[] = [];
    const log = { info: () => undefined, warn: (fields: unknown) => warned.push(fields) };
    const options = { log, runFolder, machineFolder: '/dev/null/nowhere' };
    assert.ok(await becomeOnlyInstance(options, never));
    const failures = [
      '/dev/null/nowhere/run.lock: ENOTDIR',
      `${join(runFolder, 'run.lock')}: belongs to another user`,
    ];
    assert.deepEqual(warned, [{ code: 'RUN_LOCK_UNAVAILABLE', failures }]);
  });
});
