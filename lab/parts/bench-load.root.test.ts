import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { enterNamespace, ipBatch } from '../host/namespaces.ts';
import { type Daemon, startDaemon } from '../host/processes.ts';
import { silentProgress } from '../host/progress.ts';
import { run } from '../host/run.ts';
import { until } from '../host/until.ts';
import { provideBench } from './bench.ts';

interface Loaded {
  readonly count: number;
  readonly failed: number;
  readonly cpuSeconds: readonly number[];
}

describe('bench load', () => {
  const namespace = `bench-load-${process.pid}`;
  const path = `/run/netns/${namespace}`;
  let folder: string;
  let program: string;
  let server: Daemon;

  const start = (name: string, ...args: readonly string[]): Daemon =>
    startDaemon({ name, namespacePath: path, argv: [program, ...args], logFile: logOf(name) });
  const logOf = (name: string): string => join(folder, `${name}.log`);
  const load = async (mode: string, ...flags: readonly string[]): Promise<Loaded> => {
    const argv = [program, 'load', `--mode=${mode}`, '--for=100ms', ...flags] as const;
    return JSON.parse(await run(enterNamespace(path, [...argv]))) as Loaded;
  };
  const firstFigures = async (name: string): Promise<Loaded> => {
    const line = await until(
      async () => (await readFile(logOf(name), 'utf8')).split('\n').find((each) => each !== ''),
      { what: `the figures of ${name}`, deadlineMs: 10_000 },
    );
    return JSON.parse(line) as Loaded;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-bench-load-'));
    program = await provideBench({ progress: silentProgress });
    await ipBatch([`netns add ${namespace}`]);
    await ipBatch(['link set lo up'], namespace);
    server = start('server', 'serve', '--instances=2');
    await until(async () => (await readFile(logOf('server'), 'utf8')).startsWith('serving'), {
      what: 'the server',
      deadlineMs: 10_000,
    });
  });
  after(async () => {
    await server.kill();
    await ipBatch([`netns delete ${namespace}`]);
    await rm(folder, { recursive: true });
  });

  for (const mode of ['connect', 'request']) {
    it(`counts in mode ${mode}, with the CPU time of another process`, async () => {
      const cpu = `--count-cpu-of=${server.pid}`;
      const loaded = await load(mode, '--to=127.0.0.1:9010', cpu);
      assert.equal(loaded.failed, 0);
      assert.ok(loaded.count > 0);
      assert.equal(loaded.cpuSeconds.length, 2);
      assert.ok(loaded.cpuSeconds.every((seconds) => seconds > 0));
    });
  }

  it('moves bytes in both directions', async () => {
    const loaded = await load('transfer', '--to=127.0.0.1:9001', '--from=127.0.0.1:9002');
    assert.equal(loaded.failed, 0);
    assert.ok(loaded.count > 1e6);
  });

  it('counts connections that nobody accepts as failed', async () => {
    const loaded = await load('connect', '--to=127.0.0.1:9999');
    assert.ok(loaded.failed > 0);
    assert.equal(loaded.count, 0);
  });

  it('keeps connections open until it is ended', async () => {
    const held = start('hold', 'load', '--mode=hold', '--connections=500', '--to=127.0.0.1:9000');
    assert.equal((await firstFigures('hold')).count, 500);
    const list = await run(enterNamespace(path, ['ss', '-Htn', 'dport', '=', '9000']));
    assert.equal(list.split('\n').filter((line) => line.startsWith('ESTAB')).length, 500);
    await held.stop();
  });

  it('says how much a server takes that never reads', async () => {
    const pushed = start('push', 'load', '--mode=push', '--connections=2', '--to=127.0.0.1:9003');
    assert.ok((await firstFigures('push')).count > 10_000);
    await pushed.stop();
  });
});
