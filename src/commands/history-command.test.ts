import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { History } from '../agent/history/history.ts';
import { historyPage } from '../agent/history/history-page.ts';
import { keepHistory } from '../agent/history/saved-history.ts';
import { runStatusSocket } from '../agent/servers/status-socket.ts';
import { HISTORY_FILE, STATUS_SOCKET } from '../config/run-folder.ts';
import { endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { systemClock } from '../time/clock.ts';
import { type CommandRun, runCommand } from './basis/testing/run-command.ts';
import { historyCommand } from './history-command.ts';

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-history-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

/** The socket of an agent that has seen 700 changes of ns/web, and one of ns/api. */
async function serve(t: TestContext): Promise<string> {
  const runFolder = await folder(t);
  const history = new History({ mode: 'nftables', version: '1', clock: systemClock });
  const tell = history.observer.onObjectChanged;
  const stamp = undefined;
  for (let index = 0; index < 700; index++) {
    const [before, after] = [slice([endpoint(`10.0.0.${index % 9}`)]), slice([])];
    tell?.({ kind: 'slice', key: 'ns/web-1', before, after, stamp }, systemClock.monotonicMs());
  }
  const created = { kind: 'service', key: 'ns/api', before: undefined, after: service() } as const;
  tell?.({ ...created, stamp }, systemClock.monotonicMs());
  const lifetime = new AbortController();
  const opened = Promise.withResolvers<void>();
  const unasked = (): never => assert.fail('not asked here');
  const now = (name: string) => ({ exists: name === 'ns/web', endpoints: 0, ready: 0 });
  const serving = runStatusSocket(
    {
      path: join(runFolder, STATUS_SOCKET),
      snapshot: unasked,
      counters: unasked,
      node: unasked,
      rows: unasked,
      history: (request) => historyPage(request, { history, clock: systemClock, serviceNow: now }),
      onProblem: opened.reject,
      onOpen: () => opened.resolve(),
    },
    lifetime.signal,
  );
  await opened.promise;
  t.after(async () => {
    lifetime.abort();
    await serving;
  });
  return runFolder;
}

async function history(t: TestContext, ...args: string[]): Promise<CommandRun> {
  return await runCommand(t, historyCommand(), args);
}

describe('fairlead history', () => {
  it('shows the newest entries last, and how many more there are', async (t) => {
    const runFolder = await serve(t);
    const { code, out } = await history(t, 'ns/web', '--limit', '2', '--run-folder', runFolder);
    assert.equal(code, 0);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^ns\/web: /);
    assert.match(out, /^699 earlier entries: --limit 701$/m);
    assert.equal(lines.filter((line) => / ns\/web: 10\.0\.0\.\d left/.test(line)).length, 2);
    assert.ok(!out.includes('ns/api'));
  });

  it('gives everything as JSON, over several pages', async (t) => {
    const runFolder = await serve(t);
    const args = ['-o', 'json', '--limit', '5000', '--run-folder', runFolder];
    const page = JSON.parse((await history(t, ...args)).out);
    assert.equal(page.entries.length, 702);
    assert.deepEqual([page.entries[0].what.kind, page.entries[701].service], ['started', 'ns/api']);
  });

  it('fails for a Service that does not exist and of which nothing is known', async (t) => {
    const runFolder = await serve(t);
    const missing = await history(t, 'ns/nothing', '--run-folder', runFolder);
    assert.equal(missing.code, 1);
    assert.match(missing.err, /Service ns\/nothing does not exist, and no change of it is known/);
    const known = await history(t, 'ns/api', '--run-folder', runFolder);
    assert.equal(known.code, 0, 'it is not there any more, and its history is');
  });

  it('shows what a dead agent has saved, and fails', async (t) => {
    const runFolder = await folder(t);
    const gone = new History({ mode: 'nftables', version: '1', clock: systemClock });
    gone.observer.onDrift?.({ what: 'deleted a table', by: { pid: 7, program: 'nft' } });
    const lifetime = new AbortController();
    const path = join(runFolder, HISTORY_FILE);
    const clock = { ...systemClock, sleep: async () => lifetime.abort() };
    await keepHistory(
      { path, history: gone, clock, onProblem: () => assert.fail() },
      lifetime.signal,
    );
    const { code, out, err } = await history(t, '--run-folder', runFolder);
    assert.equal(code, 1);
    assert.match(
      out,
      /^saved by the last run of the agent:\n\n[\s\S]*nft \(pid 7\) changed objects/,
    );
    assert.match(err, /cannot connect to the agent/);
  });

  it('fails without an agent, and for a wrong command line', async (t) => {
    const without = await history(t, '--run-folder', await folder(t));
    assert.equal(without.code, 1);
    assert.match(without.err, /cannot connect to the agent/);
    assert.equal((await history(t, '--since', 'yesterday')).code, 2);
    assert.equal((await history(t, '--limit', '0')).code, 2);
  });
});
