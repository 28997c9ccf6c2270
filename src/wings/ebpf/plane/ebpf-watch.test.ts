import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NodeFacts } from '../../../dataplanes/contract.ts';
import { sleep } from '../../../time/sleep.ts';
import type { Kernel } from './ebpf-kernel.ts';
import { HooksWatch, Reported } from './ebpf-watch.ts';
import { Knowledge } from './maps/map-knowledge.ts';
import { NodeLinks } from './node-links.ts';
import { Writes } from './writes.ts';

const FACTS: NodeFacts = {
  podDetection: { IPv4: undefined, IPv6: undefined },
  nodePortAddresses: { IPv4: 'all', IPv6: 'all' },
  serviceRanges: [],
  masqueradeMark: 1,
};
const DEADLINE_MS = 10_000;

/** A watch of a kernel in which every scan of the maps finds a change. */
class Scene {
  readonly writes = new Writes();
  readonly reports: string[] = [];
  scanCount = 0;
  /** During each scan. */
  onScan = (): void => undefined;

  start(t: TestContext): void {
    const knowledge = new Knowledge();
    knowledge.facts = FACTS;
    const reported = new Reported();
    reported.reportTo((what) => this.reports.push(what));
    const kernel = {
      wrongPins: () => [],
      places: { differences: () => [] },
      read: async () => {
        this.scanCount += 1;
        this.onScan();
        return ['an entry changed'];
      },
    };
    const watch = new HooksWatch({
      kernel: () => kernel as unknown as Kernel,
      knowledge,
      about: () => ({ hostCookie: 1n, links: () => undefined }),
      links: new NodeLinks(undefined),
      writes: this.writes,
      reported,
    });
    const stop = new AbortController();
    t.after(() => stop.abort());
    void watch.run(stop.signal);
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    while (!isSo()) {
      assert.ok(!late.aborted, what);
      await sleep(10, late);
    }
  }
}

test('reports what a scan of the maps finds', async (t) => {
  const scene = new Scene();
  scene.start(t);
  await scene.until('a report', () => scene.reports.length > 0);
  assert.deepEqual(scene.reports, ['an entry changed']);
});

test('discards a scan of the maps if a write came between', async (t) => {
  const scene = new Scene();
  scene.onScan = () => scene.writes.note();
  scene.start(t);
  await scene.until('two scans', () => scene.scanCount >= 2);
  assert.deepEqual(scene.reports, []);
});

test('begins no scan of the maps during a write', async (t) => {
  const scene = new Scene();
  const written = Promise.withResolvers<void>();
  const writing = scene.writes.during(() => written.promise);
  scene.start(t);
  // Twice the rest between two polls.
  await sleep(500, new AbortController().signal);
  assert.equal(scene.scanCount, 0);
  written.resolve();
  await writing;
  await scene.until('a scan', () => scene.scanCount > 0);
});
