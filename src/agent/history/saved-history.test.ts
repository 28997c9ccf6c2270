import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { endpoint, slice } from '../../forwarding/testing/example-objects.ts';
import { systemClock } from '../../time/clock.ts';
import { VirtualClock } from '../../time/testing/virtual-clock.ts';
import { History } from './history.ts';
import { historyPage } from './history-page.ts';
import { keepHistory, pastEntries, readSavedHistory } from './saved-history.ts';

const ABOUT = { mode: 'nftables', version: '1' };
const STAMP = {
  resourceVersion: '17',
  writers: [{ manager: 'kubectl-edit', operation: 'Update', subresource: '', atMs: 5_000 }],
};

async function filePath(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-history-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'history.jsonl');
}

/** Of an agent that saw changes of one Service and ended. */
async function saved(path: string, changes = 1): Promise<History> {
  const history = new History({ ...ABOUT, clock: systemClock });
  for (let index = 0; index < changes; index++) {
    const [before, after] = [slice([endpoint(`10.0.0.${index % 250}`)]), slice([])];
    const change = { kind: 'slice', key: 'ns/web-1', before, after, stamp: STAMP } as const;
    history.observer.onObjectChanged?.(change, systemClock.monotonicMs());
  }
  history.observer.onDrift?.({ what: 'deleted a table', by: { pid: 7, program: 'nft' } });
  await save(history, path);
  return history;
}

/** As the end of the agent does. */
async function save(history: History, path: string): Promise<unknown[]> {
  const problems: unknown[] = [];
  const clock = { ...systemClock, sleep: async () => lifetime.abort() };
  const lifetime = new AbortController();
  const onProblem = (error: unknown) => void problems.push(error);
  await keepHistory({ path, history, clock, onProblem }, lifetime.signal);
  return problems;
}

function pageOf(history: History) {
  const now = () => ({ exists: true, endpoints: 0, ready: 0 });
  return historyPage({}, { history, clock: systemClock, serviceNow: now });
}

describe('the saved history', () => {
  it('is read by the next run, before what that one learns', async (t) => {
    const path = await filePath(t);
    const before = pageOf(await saved(path)).entries;
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const past = pastEntries(readSavedHistory(path), systemClock);
    const next = pageOf(new History({ ...ABOUT, clock: systemClock, past }));
    assert.deepEqual(
      next.entries.slice(0, -1).map(({ what, service }) => ({ what, service })),
      before.map(({ what, service }) => ({ what, service })),
    );
    assert.ok(Math.abs((next.entries[1]?.atMs ?? 0) - (before[1]?.atMs ?? 0)) <= 2);
    assert.equal(next.entries[1]?.kernel, 'unknown', 'the agent ended before the kernel had it');
    assert.deepEqual(next.entries.at(-1)?.what, { kind: 'started', ...ABOUT, continues: true });
    assert.equal(next.startedSeq, next.entries.at(-1)?.seq);
  });

  it('is not merged with what happens again, nor settled, in the next run', async (t) => {
    const path = await filePath(t);
    await saved(path);
    const past = pastEntries(readSavedHistory(path), systemClock);
    const history = new History({ ...ABOUT, clock: systemClock, past });
    history.observer.onDrift?.({ what: 'deleted a table', by: { pid: 7, program: 'nft' } });
    history.observer.onFirstSync?.();
    const { entries } = pageOf(history);
    assert.deepEqual(
      entries.filter(({ what }) => what.kind === 'drift').map(({ again }) => again),
      [undefined, undefined],
    );
    assert.equal(entries.find(({ what }) => what.kind === 'endpoints')?.kernel, 'unknown');
  });

  it('has the newest entries, and is bounded', async (t) => {
    const path = await filePath(t);
    await saved(path, 5_000);
    assert.ok((await stat(path)).size < 1024 * 1024);
    const read = readSavedHistory(path);
    assert.ok(read.length > 500 && read.length <= 1_000, `${read.length}`);
    assert.equal(read.at(-1)?.kind, 'drift');
  });

  it('is written again only after a change', async () => {
    const clock = new VirtualClock();
    const history = new History({ ...ABOUT, clock });
    const counts = [history.changeCount];
    history.observer.onDrift?.({ what: 'x' });
    history.observer.onDrift?.({ what: 'x' });
    counts.push(history.changeCount);
    assert.deepEqual(counts, [1, 3]);
  });

  it('is empty for files that an agent has not written, and for those of others', async (t) => {
    const path = await filePath(t);
    assert.deepEqual(readSavedHistory(path), [], 'none');
    await mkdir(path);
    assert.deepEqual(readSavedHistory(path), [], 'a folder');
    await rm(path, { recursive: true });
    await saved(path);
    await symlink(path, `${path}.link`);
    assert.deepEqual(readSavedHistory(`${path}.link`), [], 'a link');
    await chmod(path, 0o622);
    assert.deepEqual(readSavedHistory(path), [], 'others can write to it');
    await chmod(path, 0o600);
    assert.equal(readSavedHistory(path).length, 3);
    await writeFile(path, 'x'.repeat(2 * 1024 * 1024));
    assert.deepEqual(readSavedHistory(path), [], 'too large');
  });

  it('skips damaged lines, and never fails, whatever is in the file', async (t) => {
    const path = await filePath(t);
    await saved(path);
    const good = await readFile(path, 'utf8');
    const [head = '', started = '', ...rest] = good.split('\n');
    const damaged = [
      started.slice(0, 40),
      'null',
      '[]',
      JSON.stringify({ service: 'a/b', atMs: 1e300, text: '{"kind":"first sync"}' }),
      JSON.stringify({ service: 'a/b', atMs: 1, text: '{"kind":"unheard of"}' }),
      JSON.stringify({
        service: 'a/b',
        atMs: 1,
        text: '{"k":"service","c":"changed","w":[["a"]]}',
      }),
      JSON.stringify({ service: 7, atMs: 1, text: '{"kind":"first sync"}' }),
    ];
    await writeFile(path, [head, ...damaged, started, ...rest].join('\n'));
    assert.equal(readSavedHistory(path).length, 3);
    for (let at = 0; at < good.length; at += 7) {
      const spoilt = Buffer.from(good, 'latin1');
      spoilt[at] = (spoilt[at] ?? 0) ^ 0x15;
      await writeFile(path, spoilt);
      const past = pastEntries(readSavedHistory(path), systemClock);
      pageOf(new History({ ...ABOUT, clock: systemClock, past }));
    }
  });

  it('costs the agent nothing where it cannot be written', async (t) => {
    const path = await filePath(t);
    await mkdir(`${path}.new`);
    const problems = await save(new History({ ...ABOUT, clock: systemClock }), path);
    assert.equal((problems[0] as NodeJS.ErrnoException).code, 'EISDIR');
    assert.equal(problems.length, 1);
  });
});
