import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Daemon } from '../../../lab/host/processes.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import type { ChangesAnswer } from '../../../src/wings/view/protocol/changes-answer.ts';
import type { DoctorAnswer } from '../../../src/wings/view/protocol/doctor-answer.ts';
import type { Dots, SearchAnswer } from '../../../src/wings/view/protocol/dots-answer.ts';
import type { PathAnswer } from '../../../src/wings/view/protocol/path-answer.ts';
import type { ServiceAnswer } from '../../../src/wings/view/protocol/service-page.ts';
import type { ViewTick } from '../../../src/wings/view/protocol/tick.ts';
import { SHOP } from '../top/shop.ts';
import { TopSite } from '../top/site.ts';
import { type Seen, ViewClient } from './view-client.ts';

const to = (address: string) => ({ transport: 'TCP', address, port: 80 }) as const;
/** How long to wait for an answer that does not come: less than a second SYN takes. */
const SILENCE_MS = 600;
const MOST_BYTES = 20_000;

const serviceIn = (tick: ViewTick, name: string) =>
  tick.map.services.find(({ service }) => service === name);

/** Within two seconds, or in the second tick where a busy machine makes them late. */
function assertSoon({ afterMs, afterTicks }: Seen, moreMs = 0): void {
  assert.ok(afterMs < 2_000 + moreMs || afterTicks <= 2, `${afterMs} ms, ${afterTicks} ticks`);
}

describe('fairlead view with an agent', () => {
  let site: TopSite;
  let daemon: Daemon;
  let view: ViewClient;

  before(async () => {
    site = await TopSite.enter();
    await site.startAgent('nftables');
    daemon = site.start('view', ['view', '--run-folder', site.runFolder]);
    view = await ViewClient.of(daemon);
    await view.follow();
    await view.seen('a first tick', () => true);
  });

  after(async () => {
    view.close();
    await site.leave();
  });

  it('begins with the node, and with what changed last', () => {
    const [hello] = view.hellos;
    assert.equal(hello?.about.node, 'node1');
    assert.equal(hello?.about.mode, 'nftables');
    assert.equal(hello?.about.mayProbe, false);
    assert.equal(hello?.changes.at(-1)?.kind, 'started');
  });

  it('shows a busy Service, who asks and where it ends, within two seconds', async () => {
    const sinceMs = performance.now();
    await site.network.client.ask({ ...to(SHOP.busy), count: 60 });
    const seen = await view.seen(
      'connections of pods, and where they end',
      (each) => {
        const { from, ends = [] } = serviceIn(each, 'shop/busy:http') ?? {};
        return (from?.pod ?? 0) > 0 && ends.some(([end, rate]) => end === 'here' && rate > 0);
      },
      sinceMs,
    );
    assertSoon(seen);
    const { tick } = seen;
    const busy = serviceIn(tick, 'shop/busy:http');
    assert.equal(busy?.from?.outside, 0);
    assert.equal(busy?.endpoints, 3);
    assert.ok((tick.totals.newPerSecond ?? 0) > 0);
  });

  it('shows rejected and dropped connections as ends of their own', async () => {
    const sinceMs = performance.now();
    await site.network.client.ask({ ...to(SHOP.empty), count: 7 });
    await site.network.outside.ask({ ...to(SHOP.elsewhere), timeoutMs: SILENCE_MS });
    const rejected = await view.seen(
      'rejected connections',
      (tick) => (serviceIn(tick, 'shop/empty:http')?.rejectedPerSecond ?? 0) > 0,
      sinceMs,
    );
    const dropped = await view.seen(
      'dropped connections',
      (tick) => (serviceIn(tick, 'shop/elsewhere:http')?.droppedPerSecond ?? 0) > 0,
      sinceMs,
    );
    assertSoon(rejected);
    assertSoon(dropped, SILENCE_MS);
    const ends = new Map(rejected.tick.map.ends.map((end) => [end.id, end.perSecond]));
    assert.ok((ends.get('rejected') ?? 0) > 0);
  });

  it('has every Service as a dot, with those that cannot be reached', async () => {
    const { namespaces, count } = await view.get<Dots>('/data/dots');
    assert.equal(count, 4);
    const [shop] = namespaces;
    assert.deepEqual(shop?.services, ['busy', 'elsewhere', 'empty', 'partly']);
    assert.match(shop?.states ?? '', /^[ub]ln[qu]$/);
  });

  it('shows an endpoint that becomes unready, and says why it gets nothing, within two seconds', async () => {
    const service = '/data/service?name=shop/busy';
    const before = await view.get<ServiceAnswer>(service);
    assert.equal(before.ports[0]?.selectedCount, 3);
    const sinceMs = performance.now();
    site.changeManifests([2]);
    const seen = await view.seen(
      'the change',
      ({ changes }) => changes.some((each) => each.service === 'shop/busy'),
      sinceMs,
    );
    assertSoon(seen);
    const { tick } = seen;
    const change = tick.changes.find((each) => each.service === 'shop/busy');
    assert.match(change?.sentence ?? '', /became not ready/);
    const { ports } = await view.get<ServiceAnswer>(service);
    assert.equal(ports[0]?.selectedCount, 2);
    const [first] = ports[0]?.endpoints ?? [];
    assert.deepEqual([first?.state, first?.because], ['not ready', 'not ready']);
    assert.ok(ports[0]?.endpoints.every((each) => each.connections !== undefined || each.because));
  });

  it('shows a Service that loses its endpoints as a changed dot within two seconds', async () => {
    const { version } = await view.get<Dots>('/data/dots');
    const sinceMs = performance.now();
    site.changeManifests([0, 1, 2]);
    const seen = await view.seen(
      'a dot',
      ({ dots }) => dots.changed.some(([index, state]) => index === 0 && state === 'n'),
      sinceMs,
    );
    assertSoon(seen);
    const { tick } = seen;
    assert.equal(tick.dots.version, version);
    site.changeManifests([]);
    await view.seen('the dot', ({ dots }) => dots.changed.some(([, state]) => state === 'u'));
  });

  it('shows that another process deleted its table, within two seconds', async () => {
    const sinceMs = performance.now();
    await run(['nft', 'delete', 'table', 'ip', 'fairlead']);
    const seen = await view.seen(
      'the drift',
      ({ changes }) => changes.some(({ kind }) => kind === 'drift'),
      sinceMs,
    );
    assertSoon(seen);
    const { tick } = seen;
    assert.equal(tick.changes.find(({ kind }) => kind === 'drift')?.tone, 'bad');
    await view.seen(
      'the repair',
      ({ changes }) => changes.some(({ kind }) => kind === 'repaired'),
      sinceMs,
    );
  });

  it('finds Services by name and by address', async () => {
    const byName = await view.get<SearchAnswer>('/data/search?q=part');
    assert.deepEqual(
      byName.found.map(({ service }) => service),
      ['shop/partly'],
    );
    const byAddress = await view.get<SearchAnswer>(`/data/search?q=${SHOP.empty}`);
    assert.deepEqual(
      byAddress.found.map(({ service, by }) => [service, by]),
      [['shop/empty', `${SHOP.empty}:80`]],
    );
  });

  it('pages backwards through the history', async () => {
    const all = await view.get<ChangesAnswer>('/data/changes');
    assert.equal(all.next, undefined);
    assert.equal(all.changes.at(-1)?.kind, 'started');
    const before = all.changes[1]?.seq ?? 0;
    const rest = await view.get<ChangesAnswer>(`/data/changes?before=${before}`);
    assert.deepEqual(
      rest.changes.map(({ seq }) => seq),
      all.changes.slice(2).map(({ seq }) => seq),
    );
  });

  it('explains a connection without a packet, and sends none', async () => {
    const path = await view.get<PathAnswer>('/data/path?target=shop/empty:http&from=host');
    assert.equal(path.code, 'REFUSED_NO_ENDPOINTS');
    assert.equal(path.proof, null);
    const rejected = await view.get<{ code: string }>('/data/path?target=shop/busy&probe=syn');
    assert.equal(rejected.code, 'PROBES_NOT_ALLOWED');
  });

  it('examines the machine', async () => {
    const doctor = await view.get<DoctorAnswer>('/data/doctor');
    assert.equal(doctor.node, 'node1');
    assert.ok(doctor.results.length > 10);
  });

  it('sends no tick of more than 20 kB', () => {
    assert.ok(view.ticks.length > 3);
    const largest = Math.max(...view.ticks.map(({ bytes }) => bytes));
    assert.ok(largest <= MOST_BYTES, `${largest} bytes`);
  });

  it('ends by SIGINT with exit code 0', async () => {
    process.kill(daemon.pid, 'SIGINT');
    await until(() => daemon.ended() !== undefined, { what: 'its end', deadlineMs: 10_000 });
    assert.match(String(daemon.ended()), /\b0\b/);
  });
});
