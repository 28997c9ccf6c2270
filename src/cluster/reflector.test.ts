import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InstantClock } from '../time/testing/instant-clock.ts';
import { until } from '../time/testing/until.ts';
import { Connection } from './api-connection.ts';
import { Interner } from './narrow/interner.ts';
import { Reflector } from './reflector.ts';
import { NAMESPACES, SERVICE_CIDRS, SERVICES } from './resources.ts';
import {
  added,
  bookmark,
  deleted,
  type Exchange,
  FakeApiServer,
  initialEnd,
  serviceJson,
  statusObject,
} from './testing/fake-api-server.ts';
import { openAccess } from './testing/open-access.ts';
import { type Step, stage } from './testing/reflector-stage.ts';

const A = 'default/a';
const B = 'default/b';

describe('Reflector, streaming list', () => {
  it('requests initial events, reports them as they arrive, then synced', async (t) => {
    const { server, tells, reflector } = await stage(t, [
      (x) => x.watch(added('a', 3), added('b', 5), initialEnd(7), added('c', 8)),
    ]);
    await tells(`put ${A}`, `put ${B}`, 'synced', 'put default/c');
    assert.equal(server.requests[0]?.path, '/api/v1/services');
    assert.deepEqual(server.requests[0]?.query, {
      labelSelector: '!service.kubernetes.io/service-proxy-name',
      fieldSelector: 'spec.clusterIP!=None',
      watch: '1',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '599',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      resourceVersion: '',
    });
    assert.equal(reflector.health().connected, true);
  });

  it('starts over when truncated, and reports nothing twice', async (t) => {
    const { server, tells } = await stage(t, [
      (x) => {
        x.watch(added('a', 3), added('b', 5));
        x.stream.write('{"type":"ADDED","obj', () => server.resetConnections());
      },
      (x) => x.watch(added('a', 3), added('c', 9), initialEnd(9)),
    ]);
    await tells(`put ${A}`, `put ${B}`, `delete ${B}`, 'put default/c', 'synced');
    assert.equal(server.requests[1]?.query['resourceVersion'], '');
  });

  it('falls back to pages when the server rejects it', async (t) => {
    const { server, tells, clock } = await stage(t, [
      (x) => x.reject(422),
      (x) =>
        x.answer(200, {
          metadata: { resourceVersion: '20', continue: 'more' },
          items: [serviceJson('a', 3)],
        }),
      (x) => x.answer(200, { metadata: { resourceVersion: '20' }, items: [serviceJson('b', 4)] }),
      (x) => x.watch(deleted('a', 21)),
    ]);
    await tells(`put ${A}`, `put ${B}`, 'synced', `delete ${A}`);
    const [, first, second, watch] = server.requests.map(({ query }) => query);
    assert.deepEqual([first?.['resourceVersion'], first?.['limit']], ['0', '500']);
    assert.deepEqual([second?.['resourceVersion'], second?.['continue']], [undefined, 'more']);
    assert.deepEqual([watch?.['resourceVersion'], watch?.['watch']], ['20', '1']);
    assert.deepEqual(clock.sleptMs, [], 'there is no reason to wait');
  });

  it('falls back to pages when its end never comes', async (t) => {
    const silent: Step = (x) => x.watch(added('a', 3));
    const { server, tells } = await stage(t, [
      silent,
      silent,
      silent,
      (x) => x.answer(200, { metadata: { resourceVersion: '20' }, items: [serviceJson('a', 3)] }),
    ]);
    await tells(`put ${A}`, 'synced');
    assert.equal(server.requests[3]?.query['watch'], undefined);
  });
});

describe('Reflector, pages', () => {
  const noStream: Step = (x) => x.reject(422);

  it('reports only the list that replaces expired pages', async (t) => {
    const page = { resourceVersion: '20', continue: 'more' };
    const { tells } = await stage(t, [
      (x) => x.reject(400),
      (x) => x.answer(200, { metadata: page, items: [serviceJson('a', 3), serviceJson('b', 4)] }),
      (x) => x.reject(410),
      (x) => x.answer(200, { metadata: { resourceVersion: '30' }, items: [serviceJson('b', 4)] }),
    ]);
    await tells(`put ${A}`, `put ${B}`, `delete ${A}`, 'synced');
  });

  it('lists without a limit when the continue token expires', async (t) => {
    const { server, tells } = await stage(t, [
      noStream,
      (x) => x.answer(200, { metadata: { resourceVersion: '1', continue: 'c' }, items: [] }),
      (x) => x.reject(410),
      (x) => x.answer(200, { metadata: { resourceVersion: '20' }, items: [serviceJson('a', 3)] }),
    ]);
    await tells(`put ${A}`, 'synced');
    assert.equal(server.requests[3]?.query['limit'], undefined);
  });

  it('fails when the server repeats a page', async (t) => {
    const again: Step = (x) =>
      x.answer(200, { metadata: { resourceVersion: '1', continue: 'c' }, items: [] });
    const { tells, problems } = await stage(t, [
      noStream,
      again,
      again,
      (x) => x.answer(200, { metadata: { resourceVersion: '20' }, items: [] }),
    ]);
    await tells('synced');
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['CLUSTER_MALFORMED'],
    );
  });

  it('retries when the response is not a list', async (t) => {
    const { tells, problems } = await stage(t, [
      noStream,
      (x) => x.answer(200, '<html>sign in</html>'),
      (x) => x.answer(200, { metadata: { resourceVersion: '20' }, items: [] }),
    ]);
    await tells('synced');
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['CLUSTER_MALFORMED'],
    );
  });
});

describe('Reflector, a watch that ends', () => {
  it('resumes from the last bookmark', async (t) => {
    const { server, tells } = await stage(t, [
      (x) => x.watch(added('a', 3), initialEnd(7), bookmark(40)).end(),
      (x) => x.watch(deleted('a', 41)).end(),
      (x) => x.watch(added('b', 42)),
    ]);
    await tells(`put ${A}`, 'synced', `delete ${A}`, `put ${B}`);
    const versions = server.requests.map(({ query }) => query['resourceVersion']);
    assert.deepEqual(versions.slice(0, 3), ['', '40', '41']);
    assert.equal(server.requests[1]?.query['sendInitialEvents'], undefined);
  });

  it('resumes where it was after a connection lost within a line', async (t) => {
    const { server, tells } = await stage(t, [
      (x) => {
        x.watch(initialEnd(7), added('a', 8));
        x.stream.write('{"type":"ADDED","object":{"metad', () => server.resetConnections());
      },
      (x) => x.watch(added('b', 9)),
    ]);
    await tells('synced', `put ${A}`, `put ${B}`);
    assert.equal(server.requests[1]?.query['resourceVersion'], '8');
    assert.equal(server.connectionCount, 2);
  });

  it('notices silence, and resumes where it was', async (t) => {
    const { server, tells, clock, reflector } = await stage(t, [
      (x) => x.watch(initialEnd(7), added('a', 8)),
      (x) => x.watch(added('b', 9)),
    ]);
    await tells('synced', `put ${A}`, `put ${B}`);
    assert.equal(server.requests[1]?.query['resourceVersion'], '8');
    assert.deepEqual(clock.sleptMs, [], 'a quiet watch is no failure');
    assert.equal(reflector.health().connected, true);
  });

  it('applies the shorter silence limit only to lists', async (t) => {
    const timing = { watchSeconds: 300, listSilenceMs: 40, watchSilenceMs: 5_000 };
    const { server, tells } = await stage(
      t,
      [
        (x) => {
          x.watch(initialEnd(7));
          setTimeout(() => x.send(added('a', 8)), 160);
        },
      ],
      { timing },
    );
    await tells('synced', `put ${A}`);
    assert.equal(server.requests.length, 1);
  });

  it('starts the next watch without delay after a long one', async (t) => {
    const { tells, clock } = await stage(t, [
      (x) => {
        x.watch(initialEnd(7));
        clock.advance(300_000);
        x.end();
      },
      (x) => x.watch(added('a', 8)),
    ]);
    await tells('synced', `put ${A}`);
    assert.deepEqual(clock.sleptMs, []);
  });
});

describe('Reflector, expired version', () => {
  const gone: Readonly<Record<string, Step>> = {
    'said by the answer': (x) => x.reject(410),
    'said within the watch': (x) => x.watch({ type: 'ERROR', object: statusObject(410) }),
  };
  for (const [how, step] of Object.entries(gone)) {
    it(`${how}, lists again and reports only the differences`, async (t) => {
      const { server, tells } = await stage(t, [
        (x) => x.watch(added('a', 3), added('b', 4), added('c', 5), initialEnd(7)).end(),
        step,
        (x) => x.watch(added('b', 9), added('c', 5), initialEnd(12), added('d', 13)),
      ]);
      await tells(
        `put ${A}`,
        `put ${B}`,
        'put default/c',
        'synced',
        `delete ${A}`,
        `put ${B}`,
        'put default/d',
      );
      assert.equal(server.requests[2]?.query['sendInitialEvents'], 'true');
    });
  }

  it('lists again and reports everything after etcd was restored from a backup', async (t) => {
    const { tells } = await stage(t, [
      (x) => x.watch(added('a', 30), initialEnd(70)).end(),
      (x) => x.reject(504),
      (x) => x.reject(504),
      (x) => x.reject(504),
      (x) => x.watch(added('a', 30), initialEnd(40)).end(),
      (x) => x.watch(added('a', 30), initialEnd(40)),
    ]);
    await tells(`put ${A}`, 'synced', `put ${A}`);
  });
});

describe('Reflector, wall clock jumps', () => {
  const DAY_MS = 86_400_000;

  for (const byMs of [-DAY_MS, DAY_MS]) {
    const direction = byMs < 0 ? 'back' : 'forward';
    it(`${direction} by a day: changes neither backoff nor the age of the last event`, async (t) => {
      const fails: Step = (x) => {
        clock.jumpWall(byMs);
        x.reject(500);
      };
      const { tells, clock, reflector } = await stage(t, [
        ...Array.from({ length: 4 }, () => fails),
        (x) => x.watch(initialEnd(7)),
      ]);
      await tells('synced');
      assert.deepEqual(clock.sleptMs, [800, 1_600, 3_200, 6_400]);
      clock.jumpWall(byMs);
      clock.advance(5_000);
      assert.equal(clock.monotonicMs() - reflector.health().lastHeardAtMs, 5_000);
    });
  }

  it('still treats a watch that ended immediately as short', async (t) => {
    const { tells, clock } = await stage(t, [
      (x) => {
        x.watch(initialEnd(7));
        clock.jumpWall(DAY_MS);
        x.end();
      },
      (x) => x.watch(added('a', 8)),
    ]);
    await tells('synced', `put ${A}`);
    assert.deepEqual(clock.sleptMs, [800]);
  });
});

describe('Reflector, rejected requests', () => {
  it('backs off up to half a minute', async (t) => {
    const fails: Step = (x) => x.reject(500);
    const { tells, clock, reflector, problems } = await stage(t, [
      ...Array.from({ length: 8 }, () => fails),
      (x) => x.watch(initialEnd(7)),
    ]);
    await until('the first failure', () => problems.length > 0);
    await tells('synced');
    const expected = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
    assert.deepEqual(clock.sleptMs, expected);
    assert.equal(reflector.health().lastError, undefined);
  });

  it('honours Retry-After', async (t) => {
    const { tells, clock } = await stage(t, [
      (x) => x.reject(429, { 'retry-after': '7' }),
      (x) => x.watch(initialEnd(7)),
    ]);
    await tells('synced');
    assert.deepEqual(clock.sleptMs, [7_800]);
  });

  it('reports the error in health()', async (t) => {
    const { reflector, problems, clock } = await stage(t, [(x) => x.reject(403)]);
    clock.isHeld = true;
    await until('a problem', () => problems.length === 1);
    assert.equal(reflector.health().connected, false);
    assert.match(reflector.health().lastError ?? '', /403 Other says 403/);
    assert.match(problems[0]?.next ?? '', /system:node-proxier/);
  });

  it('reads pages without a problem report when streaming lists are not supported', async (t) => {
    const { tells, problems, missing, reflector } = await stage(t, [
      (x) => x.reject(422),
      (x) => x.answer(200, { metadata: { resourceVersion: '20' }, items: [] }),
    ]);
    await tells('synced');
    assert.deepEqual(problems, []);
    assert.deepEqual(
      missing.map(({ status }) => status),
      [422],
    );
    assert.equal(reflector.isStreamRejected, true);
  });
});

describe('Reflector, optional kind', () => {
  const [V1, V1BETA1] = [SERVICE_CIDRS.path, SERVICE_CIDRS.olderPaths?.[0] ?? ''];
  const notThere: Step = (x) => x.reject(404);
  const pathsOf = (server: FakeApiServer): string[] => server.requests.map(({ path }) => path);

  it('syncs when the server lacks it, and requests it again later', async (t) => {
    const tries = 5;
    const { server, tells, clock, problems } = await stage(
      t,
      [...Array.from({ length: 2 * tries }, () => notThere), (x) => x.watch(initialEnd(7))],
      { resource: SERVICE_CIDRS },
    );
    await tells('synced');
    await until('a watch', () => server.requests.length === 2 * tries + 1);
    assert.deepEqual(pathsOf(server).slice(0, 3), [V1, V1BETA1, V1]);
    assert.deepEqual(clock.sleptMs, [10_000, 20_000, 40_000, 60_000, 60_000]);
    assert.deepEqual(problems, []);
  });

  it('uses the older API version if the server has only that', async (t) => {
    const { server, tells, clock, reflector } = await stage(
      t,
      [notThere, (x) => x.watch(added('a', 3), initialEnd(7))],
      { resource: SERVICE_CIDRS },
    );
    await tells(`put ${A}`, 'synced');
    assert.deepEqual(pathsOf(server), [V1, V1BETA1]);
    assert.deepEqual(clock.sleptMs, []);
    assert.equal(reflector.health().absent, undefined);
  });

  it('switches to the newer API version without a new list', async (t) => {
    const { server, tells } = await stage(
      t,
      [
        notThere,
        (x) => {
          x.watch(added('a', 3), initialEnd(7));
          x.stream.write('\n', () => server.resetConnections());
        },
        notThere,
        (x) => x.watch(added('b', 8)),
      ],
      { resource: SERVICE_CIDRS },
    );
    await tells(`put ${A}`, 'synced', `put ${B}`);
    const last = server.requests.at(-1);
    assert.equal(last?.path, V1);
    assert.equal(last?.query['resourceVersion'], '7');
  });

  it('requests it again on a new connection', async (t) => {
    const { server, tells, clock, reflector } = await stage(t, [notThere, notThere], {
      resource: SERVICE_CIDRS,
    });
    clock.isHeld = true;
    await tells('synced');
    assert.equal(reflector.health().absent, 'not served');
    await until('the wait', () => clock.sleptMs.length === 1);
    reflector.reconnected({ isOtherVersion: false });
    await until('the next request', () => server.requests.length === 3);
    assert.equal(server.requests[2]?.path, V1);
  });

  for (const { discovery, expected } of [
    { discovery: { resources: [{ name: 'servicecidrs' }] }, expected: 'forbidden' },
    { discovery: { resources: [{ name: 'ingresses' }] }, expected: 'not served' },
    { discovery: {}, expected: 'forbidden' },
  ]) {
    it(`is ${expected} where discovery says ${JSON.stringify(discovery)}`, async (t) => {
      const { tells, clock, reflector, problems } = await stage(
        t,
        [(x) => x.reject(403), ...[1, 2].map(() => (x: Exchange) => x.answer(200, discovery))],
        { resource: SERVICE_CIDRS },
      );
      clock.isHeld = true;
      await tells('synced');
      assert.equal(reflector.health().absent, expected);
      assert.deepEqual(problems, []);
    });
  }

  it('retries while a starting server forbids it for a moment', async (t) => {
    const { tells, clock, reflector } = await stage(
      t,
      [
        (x) => {
          x.watch(initialEnd(7));
          x.stream.write('\n', () => x.stream.destroy());
        },
        ...[1, 2, 3, 4].map((): Step => (x) => x.reject(403)),
        (x) => x.watch(added('a', 8)),
      ],
      { resource: SERVICE_CIDRS },
    );
    await tells('synced', `put ${A}`);
    assert.deepEqual(clock.sleptMs, [800, 1600, 3200, 6400, 12_800]);
    assert.equal(reflector.health().absent, undefined);
  });

  it('watches it once permission is granted', async (t) => {
    const reject: Step = (x) => x.reject(403);
    const { tells, problems, reflector } = await stage(
      t,
      [reject, reject, reject, reject, (x) => x.watch(initialEnd(7))],
      { resource: NAMESPACES },
    );
    await tells('synced');
    await until('a watch', () => reflector.health().lastHeardAtMs > 0);
    assert.deepEqual(problems, []);
    assert.equal(reflector.health().absent, undefined);
  });
});

it('rejects with the error of a listener that throws', async (t) => {
  const server = await FakeApiServer.start((x) => x.watch(added('a', 1)));
  const connection = new Connection({ access: openAccess(server.url) });
  t.after(async () => {
    connection.close();
    await server[Symbol.asyncDispose]();
  });
  const mistake = new Error('a mistake');
  const reflector = new Reflector({
    resource: SERVICES,
    getter: connection,
    interner: new Interner(),
    clock: new InstantClock(),
    random: () => 0,
    timing: { watchSeconds: 1, listSilenceMs: 1000, watchSilenceMs: 1000 },
    onEvent: () => {
      throw mistake;
    },
    onProblem: () => undefined,
  });
  await assert.rejects(reflector.run(new AbortController().signal), mistake);
});

it('ends with the state of the server, whatever bytes it sends', async (t) => {
  const word = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(added('a', 5), added('b', 6), deleted('a', 7), bookmark(8), initialEnd(9))
      .map((event) => Buffer.from(`${JSON.stringify(event)}\n`)),
    fc.constantFrom('\n', '{', '"', '{"type":"ADDED","object":{"metadata":').map(Buffer.from),
    fc.constantFrom(410, 500, 77).map((code) => {
      const event = { type: 'ERROR', object: statusObject(code) };
      return Buffer.from(`${JSON.stringify(event)}\n`);
    }),
  );
  const bodies = fc.sample(fc.array(word, { maxLength: 12 }), { numRuns: 60, seed: 7 });
  const noise = bodies.map(
    (words, index): Step =>
      (x) => {
        x.watch();
        if (index % 5 === 4) x.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
        else x.stream.end(Buffer.concat(words));
      },
  );
  // Expired, so that the last word is a list: noise may have claimed any version.
  const { server, told } = await stage(t, [
    ...noise,
    (x) => (x.query['sendInitialEvents'] === 'true' ? answerLast(x) : x.reject(410)),
    answerLast,
    answerLast,
  ]);
  function answerLast(x: Exchange): void {
    if (x.query['watch'] === undefined) {
      const items = [serviceJson('z', 1_000)];
      x.answer(200, { metadata: { resourceVersion: '1000' }, items });
    } else x.watch(added('z', 1_000), initialEnd(1_000));
  }
  await until('the last word', () => told().includes('put default/z'));
  await until('a quiet watch', () => server.requests.length > noise.length);
  const held = new Set<string>();
  for (const word of told()) {
    const [type, key = ''] = word.split(' ');
    if (type === 'put') held.add(key);
    else if (type === 'delete') assert.ok(held.delete(key), `${key} was never told`);
  }
  assert.deepEqual([...held], ['default/z']);
  assert.equal(told().filter((word) => word === 'synced').length, 1);
});
