import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DatedEntry, HistoryPage, HistoryRequest } from '../../agent/history/history-page.ts';
import { historyPath, parseHistoryPath } from '../../agent/servers/path-part.ts';
import { ChangeFeed } from './change-feed.ts';
import { changesBefore } from './change-pages.ts';

/** A history as an agent has it, with pages of three entries. */
class FakeHistory {
  run = 'first';
  nowMs = 0;
  entries: DatedEntry[] = [];
  #seq = 0;

  add(fields: Partial<DatedEntry> = {}): number {
    this.#seq += 1;
    const what = { kind: 'first sync' } as const;
    this.entries.push({ seq: this.#seq, service: '', atMs: this.nowMs, ageMs: 0, what, ...fields });
    return this.#seq;
  }

  change(seq: number, fields: Partial<DatedEntry>): void {
    this.entries = this.entries.map((each) => (each.seq === seq ? { ...each, ...fields } : each));
  }

  restart(): void {
    [this.run, this.entries, this.#seq] = ['second', [], 0];
    this.add();
  }

  readonly read = async (request: HistoryRequest): Promise<HistoryPage> => {
    // As the agent gets it.
    const path = historyPath(request);
    assert.deepEqual(parseHistoryPath(path), request, path);
    const { withinMs = Infinity, afterSeq = 0, service } = request;
    const found = this.entries
      .map((each) => ({ ...each, ageMs: this.nowMs - each.atMs }))
      .filter((each) => this.nowMs - (each.again?.lastAtMs ?? each.atMs) <= withinMs)
      .filter((each) => each.seq > afterSeq)
      .filter((each) => service === undefined || each.service === service);
    return {
      run: this.run,
      entries: found.slice(0, 3),
      hasMore: found.length > 3,
      lastSeq: this.#seq,
      begunAtMs: 0,
      completeSinceMs: 0,
      completeForMs: 0,
      droppedCount: 0,
    };
  };
}

describe('following the history', () => {
  function begin() {
    const history = new FakeHistory();
    history.add();
    const feed = new ChangeFeed(history.read, () => history.nowMs);
    const poll = async () => {
      history.nowMs += 1000;
      const { entries, leftOut, isRestarted } = await feed.poll();
      return { seqs: entries.map(({ seq }) => seq), leftOut, isRestarted };
    };
    return { history, poll };
  }

  it('tells each entry once, the newest first', async () => {
    const { history, poll } = begin();
    assert.deepEqual((await poll()).seqs, []);
    for (let count = 0; count < 5; count++) history.add();
    assert.deepEqual((await poll()).seqs, [6, 5, 4, 3, 2]);
    assert.deepEqual(await poll(), { seqs: [], leftOut: 0, isRestarted: false });
  });

  it('tells of an entry again when the kernel has it, however late', async () => {
    const { history, poll } = begin();
    await poll();
    const seq = history.add({ kernel: 'waiting' });
    assert.deepEqual((await poll()).seqs, [seq]);
    for (let count = 0; count < 20; count++) assert.deepEqual((await poll()).seqs, []);
    history.change(seq, { kernel: 'kernel' });
    assert.deepEqual((await poll()).seqs, [seq]);
    assert.deepEqual((await poll()).seqs, []);
  });

  it('tells of what happens again in the entry that it has', async () => {
    const { history, poll } = begin();
    await poll();
    history.nowMs += 30_000;
    history.change(1, { again: { count: 1, lastAtMs: history.nowMs } });
    assert.deepEqual((await poll()).seqs, [1]);
    assert.deepEqual((await poll()).seqs, []);
  });

  it('says how many it left out of a flood', async () => {
    const { history, poll } = begin();
    await poll();
    for (let count = 0; count < 100; count++) history.add();
    const { seqs, leftOut } = await poll();
    assert.equal(seqs.length + leftOut, 100);
    assert.ok(leftOut > 0);
  });

  it('says that the agent was restarted', async () => {
    const { history, poll } = begin();
    assert.equal((await poll()).isRestarted, false);
    history.restart();
    assert.deepEqual(await poll(), { seqs: [1], leftOut: 0, isRestarted: true });
  });
});

describe('pages of the history', () => {
  it('go backwards over gaps, and end', async () => {
    const history = new FakeHistory();
    for (let count = 0; count < 100; count++) history.add();
    history.entries = history.entries.filter(({ seq }) => seq % 7 === 0);
    const read: number[] = [];
    let before: number | undefined;
    do {
      const page = await changesBefore(history.read, { before, service: undefined, most: 4 });
      read.push(...page.changes.map(({ seq }) => seq));
      before = page.next;
    } while (before !== undefined);
    assert.deepEqual(read, [98, 91, 84, 77, 70, 63, 56, 49, 42, 35, 28, 21, 14, 7]);
  });

  it('has those of one Service', async () => {
    const history = new FakeHistory();
    for (let count = 0; count < 50; count++) history.add({ service: count % 10 ? 'a/b' : 'a/c' });
    const wanted = { before: undefined, service: 'a/c', most: 3 };
    const page = await changesBefore(history.read, wanted);
    assert.deepEqual(
      page.changes.map(({ seq }) => seq),
      [41, 31, 21],
    );
    assert.equal(page.next, 21);
  });
});
