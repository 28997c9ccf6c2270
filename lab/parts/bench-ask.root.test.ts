import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { enterNamespace, ipBatch } from '../host/namespaces.ts';
import { type Daemon, startDaemon } from '../host/processes.ts';
import { silentProgress } from '../host/progress.ts';
import { type RunResult, tryRun } from '../host/run.ts';
import { until } from '../host/until.ts';
import { provideBench } from './bench.ts';

const PAIRS = 6;

interface Side {
  readonly slices: readonly { count: number; failed: number; cpuSeconds: number }[];
}

interface Asked {
  readonly to: Side;
  readonly beside: Side;
}

describe('bench ask', () => {
  const namespace = `bench-ask-${process.pid}`;
  const path = `/run/netns/${namespace}`;
  let folder: string;
  let program: string;
  let server: Daemon;

  const ask = (flags: readonly string[], mode = 'request'): Promise<RunResult> =>
    tryRun(
      enterNamespace(path, [
        program,
        'ask',
        `--mode=${mode}`,
        '--to=127.0.0.1:9000',
        '--slice=5ms',
        '--workers=2',
        ...flags,
      ]),
    );
  const asked = async (flags: readonly string[], mode?: string): Promise<Asked> => {
    const { stdout, stderr } = await ask(flags, mode);
    assert.equal(stderr, '');
    return JSON.parse(stdout) as Asked;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-bench-ask-'));
    program = await provideBench({ progress: silentProgress });
    await ipBatch([`netns add ${namespace}`]);
    await ipBatch(['link set lo up'], namespace);
    const logFile = join(folder, 'server.log');
    const argv = [program, 'serve'] as const;
    server = startDaemon({ name: 'bench server', namespacePath: path, argv, logFile });
    const isServing = async (): Promise<boolean> =>
      (await ask(['--beside=127.0.0.2:9000'], 'connect')).exitCode === 0;
    await until(isServing, { what: 'the server', deadlineMs: 10_000 });
  });
  after(async () => {
    await server.kill();
    await ipBatch([`netns delete ${namespace}`]);
    await rm(folder, { recursive: true });
  });

  for (const mode of ['connect', 'request', 'datagram']) {
    it(`loads two addresses in equally many slices, and counts each: ${mode}`, async () => {
      // Datagrams are answered from the first address, whichever was asked.
      const address = mode === 'datagram' ? '127.0.0.1' : '127.0.0.2';
      const { to, beside } = await asked([`--beside=${address}:9000`, `--pairs=${PAIRS}`], mode);
      for (const { slices } of [to, beside]) {
        assert.equal(slices.length, PAIRS);
        // Not in every slice: one of 5 ms may pass while the process waits for a CPU.
        assert.ok(slices.some(({ count, cpuSeconds }) => count > 0 && cpuSeconds > 0));
      }
    });
  }

  it('counts the CPU time of the processes that work for it', async () => {
    const flags = ['--beside=127.0.0.2:9000', '--pairs=40'];
    const costOf = ({ to: { slices } }: Asked): number => {
      const sum = (of: (slice: Side['slices'][number]) => number): number =>
        slices.reduce((all, slice) => all + of(slice), 0);
      return sum(({ cpuSeconds }) => cpuSeconds) / sum(({ count }) => count);
    };
    const alone = costOf(await asked(flags));
    const together = costOf(await asked([...flags, `--count-cpu-of=${server.pid}`]));
    assert.ok(together > alone * 1.2, `${together} s each, ${alone} s without the server`);
  });

  it('fails when one of the two never answers', async () => {
    const { exitCode, stderr } = await ask(['--beside=127.0.0.2:9999']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /127\.0\.0\.2:9999: connection refused/);
  });

  it('fails when the process to count does not exist', async () => {
    const { exitCode } = await ask(['--beside=127.0.0.2:9000', '--count-cpu-of=4194304']);
    assert.equal(exitCode, 1);
  });
});
