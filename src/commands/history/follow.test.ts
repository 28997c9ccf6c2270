import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { History } from '../../agent/history/history.ts';
import type { SavedEntry } from '../../agent/history/history-entry.ts';
import { historyPage } from '../../agent/history/history-page.ts';
import { runStatusSocket } from '../../agent/servers/status-socket.ts';
import { service } from '../../forwarding/testing/example-objects.ts';
import { until } from '../../time/testing/until.ts';
import { followHistory } from './follow.ts';

/** An agent whose time the test sets, followed from its beginning. */
class Scene {
  nowMs = 1_000_000;
  readonly clock = { monotonicMs: () => this.nowMs, wallMs: () => this.nowMs };
  history = this.start();
  readonly printed: string[] = [];

  /** With what the run before has saved. */
  start(past: readonly SavedEntry[] = []): History {
    return new History({ mode: 'nftables', version: '', clock: this.clock, past });
  }

  create(key: string): void {
    const created = { kind: 'service', key, before: undefined, after: service() } as const;
    this.history.observer.onObjectChanged?.({ ...created, stamp: undefined }, this.nowMs);
  }

  /** The kernel has everything that was received. */
  acknowledge(name: string): void {
    const of = { receivedAtMs: this.nowMs, lastReceivedAtMs: this.nowMs };
    this.history.observer.onUnneeded?.([{ service: name, ...of }]);
  }

  async follow(t: TestContext): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-follow-'));
    const path = join(folder, 'status.sock');
    const stop = new AbortController();
    const opened = Promise.withResolvers<void>();
    const unasked = (): never => assert.fail('not asked here');
    const pages = { snapshot: unasked, counters: unasked, node: unasked, rows: unasked };
    const serviceNow = () => ({ exists: true, endpoints: 0, ready: 0 });
    const serving = runStatusSocket(
      {
        path,
        ...pages,
        history: (request) =>
          historyPage(request, { history: this.history, clock: this.clock, serviceNow }),
        onProblem: opened.reject,
        onOpen: () => opened.resolve(),
      },
      stop.signal,
    );
    await opened.promise;
    const following = followHistory(
      {
        request: { socketPath: path },
        clock: { sleep: async () => await turn() },
        after: { run: this.history.run, seq: 0 },
        onEntries: (entries) => {
          for (const each of entries) this.printed.push(each.service || each.what.kind);
        },
        onNote: (note) => this.printed.push(note),
      },
      stop.signal,
    );
    t.after(async () => {
      stop.abort();
      await Promise.all([serving, following]);
      await rm(folder, { recursive: true });
    });
  }

  async prints(...expected: string[]): Promise<void> {
    await until('the lines', () => this.printed.length >= expected.length);
    assert.deepEqual(this.printed, expected);
  }
}

it('prints each entry once, when the kernel has it, and goes on with another agent', async (t) => {
  const scene = new Scene();
  await scene.follow(t);
  await scene.prints('started');
  scene.create('ns/a');
  scene.create('ns/b');
  scene.acknowledge('ns/b');
  for (let count = 0; count < 20; count++) await turn();
  await scene.prints('started');
  scene.acknowledge('ns/a');
  await scene.prints('started', 'ns/a', 'ns/b');
  scene.create('ns/late');
  scene.nowMs += 5_000;
  await scene.prints('started', 'ns/a', 'ns/b', 'ns/late');
  scene.history = scene.start([...scene.history.ring.all()]);
  const note = 'the agent was restarted: what happened in between is not known';
  await scene.prints('started', 'ns/a', 'ns/b', 'ns/late', note, 'started');
});
