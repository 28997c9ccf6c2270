import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { until } from '../time/testing/until.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { type EventPost, Events, TokenBucket } from './kubernetes-events.ts';

const NOW_MS = Date.UTC(2026, 10, 15, 9, 28, 7, 904);
const ABOUT = { nodeName: 'node1', hostName: 'host1' };

interface Posted {
  readonly path: string;
  readonly body: object;
}

interface Stage {
  readonly events: Events;
  readonly posted: Posted[];
  readonly problems: unknown[];
  readonly clock: VirtualClock;
}

function stage(t: TestContext, post?: EventPost): Stage {
  const posted: Posted[] = [];
  const problems: unknown[] = [];
  const record: EventPost = async (path, body) => {
    posted.push({ path, body });
  };
  const clock = new VirtualClock();
  clock.jumpWall(NOW_MS - clock.wallMs());
  const scene: Stage = {
    posted,
    problems,
    clock,
    events: new Events({
      about: ABOUT,
      post: post ?? record,
      onProblem: (error) => problems.push(error),
      clock,
    }),
  };
  const stop = new AbortController();
  const running = scene.events.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return scene;
}

describe('events', () => {
  it('name a Service that is written in parts once in an hour, whatever their text', async (t) => {
    const scene = stage(t);
    const service = { namespace: 'ns', name: 'huge' };
    for (const note of ['1 of 3', '2 of 3']) scene.events.servicePaced(service, note);
    scene.events.servicePaced({ ...service, name: 'other' }, '1 of 2');
    await until('both', () => scene.posted.length === 2);
    await scene.clock.pass(3_600_000);
    scene.events.servicePaced(service, '3 of 3');
    await until('the next', () => scene.posted.length === 3);
    const notes = scene.posted.map(({ body }) => (body as { note: string }).note);
    assert.deepEqual(notes, ['1 of 3', '1 of 2', '3 of 3']);
  });

  it('that every node would write are one object in the cluster', async (t) => {
    const name = async (laterMs: number, isOfCluster: boolean): Promise<unknown> => {
      const scene = stage(t);
      scene.clock.jumpWall(laterMs);
      const service = { namespace: 'ns', name: 'web' };
      scene.events.addressNotServed(service, { note: 'external-ip 10.96.7.7:80', isOfCluster });
      await until('the Event', () => scene.posted.length === 1);
      const [posted] = scene.posted;
      return (posted?.body as { metadata?: { name: string } } | undefined)?.metadata?.name;
    };
    assert.equal(await name(0, true), await name(1, true));
    assert.notEqual(await name(0, false), await name(1, false));
  });

  it('on the Node have the reason and action of kube-proxy', async (t) => {
    const { events, posted } = stage(t);
    events.starting('mode nftables');
    await until('the Event', () => posted.length === 1);
    assert.deepEqual(posted, [
      {
        path: '/apis/events.k8s.io/v1/namespaces/default/events',
        body: {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: {
            name: `node1.${(BigInt(NOW_MS) * 1_000_000n).toString(16)}`,
            namespace: 'default',
          },
          eventTime: '2026-11-15T09:28:07.904000Z',
          reportingController: 'fairlead',
          reportingInstance: 'fairlead-host1',
          action: 'StartKubeProxy',
          reason: 'Starting',
          type: 'Normal',
          note: 'mode nftables',
          regarding: { apiVersion: 'v1', kind: 'Node', name: 'node1', uid: 'node1' },
        },
      },
    ]);
  });

  it('on a Service are in its namespace', async (t) => {
    const { events, posted } = stage(t);
    events.serviceHealthFailed({ namespace: 'shop', name: 'web' }, 'port 31999 is taken');
    await until('the Event', () => posted.length === 1);
    const [{ path, body } = { path: '', body: {} }] = posted;
    assert.equal(path, '/apis/events.k8s.io/v1/namespaces/shop/events');
    const { reason, action, type, regarding } = body as Record<string, unknown>;
    assert.deepEqual(
      { reason, action, type, regarding },
      {
        reason: 'FailedToStartServiceHealthcheck',
        action: 'Listen',
        type: 'Warning',
        regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'web' },
      },
    );
  });

  it('of the same moment have different names', async (t) => {
    const { events, posted, clock } = stage(t);
    events.starting('a');
    events.starting('b');
    await clock.settle();
    assert.equal(new Set(posted.map(({ body }) => nameOf(body))).size, 2);
  });

  it('that cannot be written are reported and dropped', async (t) => {
    const failure = new Error('forbidden');
    let calls = 0;
    const { events, problems, clock } = stage(t, async () => {
      calls++;
      if (calls === 1) throw failure;
    });
    events.starting('a');
    events.starting('b');
    await clock.settle();
    assert.deepEqual(problems, [failure]);
    assert.equal(calls, 2);
  });

  it('end on abort while a request hangs that ignores its signal', async () => {
    const clock = new VirtualClock();
    const asked = Promise.withResolvers<void>();
    const post: EventPost = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const problems: unknown[] = [];
    const onProblem = (error: unknown) => problems.push(error);
    const events = new Events({ about: ABOUT, post, onProblem, clock });
    const stop = new AbortController();
    const running = events.run(stop.signal);
    events.starting('a');
    await asked.promise;
    stop.abort();
    await running;
    assert.deepEqual(problems, []);
  });

  it('are written only once in ten minutes with the same text', async (t) => {
    const { events, posted, clock } = stage(t);
    const service = { namespace: 'shop', name: 'web' };
    for (let time = 0; time < 5; time++) events.serviceHealthFailed(service, 'taken');
    await clock.settle();
    assert.equal(posted.length, 1);
    await clock.pass(600_000);
    events.serviceHealthFailed(service, 'taken');
    await clock.settle();
    assert.equal(posted.length, 2);
  });

  it('are written again after ten minutes and not before, wherever the wall clock is set', async (t) => {
    const { events, posted, clock } = stage(t);
    const service = { namespace: 'shop', name: 'web' };
    const say = async (): Promise<void> => {
      events.serviceHealthFailed(service, 'taken');
      await clock.settle();
    };
    await say();
    clock.jumpWall(24 * 3_600_000);
    await say();
    assert.equal(posted.length, 1);
    clock.jumpWall(-48 * 3_600_000);
    await clock.pass(600_000);
    await say();
    assert.equal(posted.length, 2);
    const { eventTime } = (posted[1]?.body ?? {}) as { eventTime: string };
    assert.equal(Date.parse(eventTime), clock.wallMs(), 'the date is that of the wall clock');
  });

  it('are left out when there are too many', async (t) => {
    const { events, posted, clock } = stage(t);
    for (let index = 0; index < 100; index++) events.starting(`note ${index}`);
    await clock.settle();
    assert.equal(posted.length, 10, 'the burst');
    await clock.pass(3_600_000);
    assert.equal(posted.length, 32, 'the queue');
  });

  it('of another namespace are written while one namespace floods them', async (t) => {
    const { events, posted, clock } = stage(t);
    const flood = (from: number): void => {
      for (let index = from; index < from + 1_000; index++) {
        events.serviceHealthFailed({ namespace: 'loud', name: `web${index}` }, 'port is taken');
      }
    };
    flood(0);
    await clock.settle();
    // Ten have left the queue: now it is full.
    flood(1_000);
    events.serviceHealthFailed({ namespace: 'quiet', name: 'web' }, 'port is taken');
    flood(2_000);
    await clock.pass(10_000);
    assert.ok(
      posted.some(({ path }) => path.includes('/quiet/')),
      `${posted.length} were written, none of them for the other namespace`,
    );
  });

  it('that found no room may be written when they are said again', async (t) => {
    const { events, posted, clock } = stage(t);
    for (let index = 0; index < 33; index++) events.starting(`note ${index}`);
    await clock.pass(300_000);
    assert.equal(posted.length, 32);
    events.starting('note 32');
    await clock.pass(5_000);
    assert.equal(posted.length, 33);
  });

  it('are cut to the limit of the API, between characters', async (t) => {
    const { events, posted, clock } = stage(t);
    events.starting(`x${'ä'.repeat(1000)}`);
    await clock.settle();
    const notes = posted.map(({ body }) => (body as { note: string }).note);
    assert.deepEqual(notes, [`x${'ä'.repeat(511)}`]);
  });
});

describe('the rate', () => {
  it('is a burst, then one in each interval', () => {
    const bucket = new TokenBucket({ burst: 2, refillEveryMs: 100 });
    assert.deepEqual([bucket.take(0), bucket.take(0), bucket.take(0)], [0, 0, 100]);
    assert.equal(bucket.take(60), 40);
    assert.equal(bucket.take(100), 0);
    assert.equal(bucket.take(150), 50);
    assert.deepEqual([bucket.take(1000), bucket.take(1000), bucket.take(1000)], [0, 0, 100]);
  });
});

function nameOf(body: object): string {
  return (body as { metadata: { name: string } }).metadata.name;
}
