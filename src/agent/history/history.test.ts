import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpoint, service, slice } from '../../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../../time/testing/virtual-clock.ts';
import type { StepReport } from '../observer.ts';
import { historyPath, parseHistoryPath } from '../servers/path-part.ts';
import { NODE, SETTINGS, Stage } from '../testing/agent-stage.ts';
import { rejection } from '../testing/fake-plane.ts';
import { synced } from '../testing/many.ts';
import { History } from './history.ts';
import type { Happening } from './history-entry.ts';
import { type DatedEntry, type HistoryRequest, historyPage } from './history-page.ts';
import { serviceNow } from './service-now.ts';

const STAMP = {
  resourceVersion: '17',
  writers: [{ manager: 'kubectl-edit', operation: 'Update', subresource: '', atMs: 5_000 }],
};

class Watched implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly history: History;
  readonly stage: Stage;

  private constructor(clock: VirtualClock, history: History, stage: Stage) {
    this.clock = clock;
    this.history = history;
    this.stage = stage;
  }

  static async start(): Promise<Watched> {
    const clock = new VirtualClock();
    const about = { mode: 'nftables', version: '1', clock };
    const history = new History({ ...about, facts: () => stage.agent.facts });
    const stage: Stage = new Stage(clock, { random: () => 0.5, observers: [history.observer] });
    await synced(clock, stage, 0);
    await clock.settle();
    return new Watched(clock, history, stage);
  }

  page(request: HistoryRequest = {}) {
    const { history, clock, stage } = this;
    const now = (name: string) => serviceNow(stage.agent.table, name);
    return historyPage(request, { history, clock, serviceNow: now });
  }

  entries(request: HistoryRequest = {}): readonly DatedEntry[] {
    return this.page(request).entries;
  }

  kinds(request: HistoryRequest = {}): readonly string[] {
    return this.entries(request).map(({ what }) => what.kind);
  }

  /** The last entry of this kind. */
  last<K extends Happening['kind']>(kind: K) {
    const entry = this.entries().findLast(({ what }) => what.kind === kind);
    assert.ok(entry, `no entry of ${kind}`);
    return { ...entry, what: entry.what as Extract<Happening, { kind: K }> };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }
}

describe('History', () => {
  it('begins with the start, and does not tell of the first lists', async () => {
    await using watched = await Watched.start();
    assert.deepEqual(watched.kinds(), ['started', 'first sync']);
    assert.equal(watched.last('started').what.mode, 'nftables');
  });

  it('tells a change with its writer, when it was received and when it was in the kernel', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.source.service(service());
    await clock.until('the Service', () => stage.isEqual());
    await clock.pass(10_000);
    const object = slice([endpoint('10.0.0.1')]);
    stage.source.tell({ kind: 'slice', type: 'put', key: 'ns/web-1', object, stamp: STAMP });
    assert.equal(watched.last('endpoints').kernel, 'waiting');
    await clock.until('the endpoint', () => stage.isEqual());
    await clock.settle();
    const { service: name, ageMs, kernel, what } = watched.last('endpoints');
    assert.deepEqual([name, ageMs, kernel], ['ns/web', 0, 'kernel']);
    assert.deepEqual([what.slice, what.resourceVersion], ['web-1', '17']);
    assert.equal(what.writers[0]?.manager, 'kubectl-edit');
    assert.deepEqual(watched.page({ service: 'ns/web' }).now, {
      exists: true,
      endpoints: 1,
      ready: 1,
    });
  });

  it('tells that a change needs no write', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.source.service(service());
    await clock.until('the Service', () => stage.isEqual());
    stage.source.service(service({ selectorHash: 7 }));
    await clock.settle();
    const { what, kernel } = watched.last('service');
    assert.deepEqual([what.fields[0]?.field, kernel], ['spec.selector', 'unneeded']);
  });

  it('keeps a change waiting while the kernel rejects it, and tells the rejection once', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.plane.fault = (call) => {
      if (call === 'apply') throw rejection('EINVAL', 'odd', 'ns/web/TCP/IPv4');
    };
    stage.source.service(service({ clusterIPs: ['10.96.0.1'] }));
    await clock.pass(20_000);
    const rejected = watched.last('rejected');
    assert.equal(rejected.service, 'ns/web');
    assert.ok((rejected.again?.count ?? 0) > 0);
    assert.equal(watched.last('service').kernel, 'waiting');
    stage.plane.fault = () => undefined;
    await clock.until('the Service', () => stage.isEqual());
    await clock.settle();
    const { kernel, settledAfterMs } = watched.last('service');
    assert.equal(kernel, 'kernel');
    assert.ok((settledAfterMs ?? 0) >= 20_000);
  });

  it('tells an external change with its process, and the repair', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.source.service(service());
    await clock.until('the Service', () => stage.isEqual());
    for (let count = 0; count < 3; count++) {
      stage.plane.lose('ns/web/TCP/IPv4');
      await clock.pass(5_000);
    }
    assert.equal(stage.isEqual(), true);
    const drift = watched.last('drift');
    assert.equal(drift.what.by?.program, 'nft');
    assert.equal(drift.again?.count, 2, 'the same again is counted');
    const repaired = watched.last('repaired');
    assert.deepEqual([repaired.what.reason, repaired.kernel], ['drift', 'kernel']);
  });

  it('gives the longest of merged repairs, and not the time since the first', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.source.service(service());
    await clock.until('the Service', () => stage.isEqual());
    for (let count = 0; count < 4; count++) {
      stage.plane.lose('ns/web/TCP/IPv4');
      await clock.pass(10_000);
    }
    const { again, settledAfterMs, kernel } = watched.last('repaired');
    assert.deepEqual([again?.count, kernel], [3, 'kernel']);
    assert.ok((settledAfterMs ?? -1) > 0, 'counted from the external change');
    assert.ok((settledAfterMs ?? 0) < 5_000, `${settledAfterMs} ms`);
  });

  it('does not call repaired what no inspection could write', async () => {
    await using watched = await Watched.start();
    const { observer } = watched.history;
    const report = {
      depth: 'everything',
      reason: 'drift',
      atMs: watched.clock.monotonicMs(),
      durationMs: 5,
      rowCount: 1,
      wrongCount: 0,
      writeCount: 0,
      differenceCount: 1,
      differences: [{ kind: 'missing', object: 'packet hooks: no such cgroup' }],
    } as const;
    observer.onInspected?.(report);
    observer.onStep?.({ pendingCount: 0, failedCount: 0 } as StepReport);
    assert.equal(watched.last('repaired').kernel, 'waiting');
    await watched.clock.pass(20_000);
    observer.onInspected?.(report);
    await watched.clock.pass(20_000);
    observer.onInspected?.({
      ...report,
      atMs: watched.clock.monotonicMs(),
      writeCount: 8,
      differences: [{ kind: 'missing', object: 'connect4' }],
    });
    const [first, second] = watched
      .entries()
      .filter(({ what }) => what.kind === 'repaired')
      .map(({ kernel, settledAfterMs }) => ({ kernel, settledAfterMs }));
    assert.deepEqual(first, { kernel: 'kernel', settledAfterMs: 40_005 });
    assert.deepEqual(second, { kernel: 'kernel', settledAfterMs: 5 });
  });

  it('knows that a repair is done while another row stays rejected', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.source.service(service({ clusterIPs: ['10.96.0.1'] }));
    await clock.until('the Service', () => stage.isEqual());
    stage.plane.fault = (call, changes) => {
      const odd = changes.find(({ id }) => id.service === 'odd');
      if (call === 'apply' && odd) throw rejection('EINVAL', 'odd', odd.key);
    };
    stage.source.service(service({ name: 'odd', clusterIPs: ['10.96.0.2'] }));
    await clock.pass(5_000);
    stage.plane.lose('ns/web/TCP/IPv4');
    await clock.pass(60_000);
    assert.equal(watched.last('repaired').kernel, 'kernel');
    assert.equal(watched.last('service').kernel, 'waiting');
  });

  it('tells ended flows of one endpoint after the other in one entry', async () => {
    await using watched = await Watched.start();
    for (let index = 0; index < 40; index++) {
      const endpointName = `10.0.0.${index}:80`;
      const ended = { service: 'ns/web', reason: 'endpoint is gone', count: 2 };
      watched.history.flowsEnded({ ...ended, endpoint: endpointName });
    }
    const { what } = watched.last('flows');
    assert.deepEqual([what.count, what.endpoints.count, what.endpoints.first.length], [80, 40, 16]);
  });

  it('tells changes of the Node, of node settings, of the configuration and of the watch', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    stage.source.node({ ...NODE, zone: 'zone-b' });
    stage.agent.reconfigure({ ...SETTINGS, podNetworks: ['10.0.0.0/9'] });
    const changed = { field: 'mode', before: 'nftables', after: 'ipvs' };
    watched.history.configurationChanged({ ...changed, inForce: 'after a restart' });
    stage.source.isConnected = false;
    await clock.pass(120_000);
    assert.equal(watched.last('node').what.fields[0]?.after, 'zone-b');
    assert.deepEqual(watched.last('node settings').what.fields, ['podNetworks']);
    assert.equal(watched.last('configuration').what.after, '"ipvs"');
    assert.deepEqual(watched.last('condition').what.isTrue, false);
  });

  it('keeps the order and the durations when the wall clock is set', async () => {
    await using watched = await Watched.start();
    const { clock, stage } = watched;
    for (let index = 0; index < 20; index++) {
      clock.jumpWall(index % 2 === 0 ? -86_400_000 : 3_600_000);
      stage.source.service(service({ name: `s${index}`, clusterIPs: [`10.96.1.${index}`] }));
      await clock.pass(1_000);
    }
    const names = watched.entries().filter(({ service: name }) => name !== '');
    assert.deepEqual(
      names.map(({ service: name }) => name),
      Array.from({ length: 20 }, (_, index) => `ns/s${index}`),
    );
    const dates = names.map(({ atMs }) => atMs);
    assert.deepEqual(
      dates,
      dates.toSorted((a, b) => a - b),
      'dates follow from ages',
    );
    assert.ok(
      names.every(({ settledAfterMs = -1 }) => settledAfterMs >= 0 && settledAfterMs < 1_000),
    );
    const recent = watched.entries({ withinMs: 5_500 });
    assert.equal(recent.length, 5);
  });

  it('is bounded at 10,000 entries, and pages are bounded', async () => {
    await using watched = await Watched.start();
    const { observer, ring } = watched.history;
    for (let index = 0; index < 12_000; index++) {
      const key = `ns${index % 50}/s${index % 400}`;
      const [before, after] = [service(), service({ healthCheckNodePort: index + 1 })];
      observer.onObjectChanged?.({ kind: 'service', key, before, after, stamp: STAMP }, index);
    }
    assert.ok(ring.size > 9_000 && ring.size <= 10_000, `${ring.size}`);
    let read = 0;
    for (
      let page = watched.page();
      ;
      page = watched.page({ afterSeq: page.entries.at(-1)?.seq ?? 0 })
    ) {
      read += page.entries.length;
      assert.ok(JSON.stringify(page).length < 400_000);
      if (!page.hasMore) break;
    }
    assert.equal(read, ring.size);
  });
});

describe('the path of a request', () => {
  it('is read as it was written', () => {
    const requests: HistoryRequest[] = [
      {},
      { service: 'ns/web' },
      { service: 'ns/web', withinMs: 600_000, afterSeq: 12 },
      { afterSeq: 3 },
    ];
    for (const request of requests)
      assert.deepEqual(parseHistoryPath(historyPath(request)), request);
    assert.equal(parseHistoryPath('/history/of/%zz'), undefined);
    assert.equal(parseHistoryPath('/histories'), undefined);
  });
});
