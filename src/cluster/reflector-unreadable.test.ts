import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../time/testing/until.ts';
import { added, deleted, initialEnd } from './testing/fake-api-server.ts';
import { type Step, stage } from './testing/reflector-stage.ts';

const A = 'default/a';
const B = 'default/b';

describe('Reflector, unreadable objects', () => {
  it('ignores and counts them, and lists again', async (t) => {
    const { server, tells, reflector, problems } = await stage(t, [
      (x) => {
        x.watch(initialEnd(7), added('a', 8));
        x.write('this is no JSON\n[1]\n"x"\n{"type":"STRANGE"}\n{"type":"ADDED","object":7}\n');
        x.send({ type: 'DELETED', object: null });
        x.send(added('b', 9));
        x.end();
      },
      (x) => x.watch(added('b', 9), initialEnd(12)),
    ]);
    await tells('synced', `put ${A}`, `put ${B}`, `delete ${A}`);
    assert.equal(reflector.health().skippedCount, 6);
    assert.equal(problems.filter(({ code }) => code === 'CLUSTER_MALFORMED').length, 6);
    assert.equal(server.requests[1]?.query['sendInitialEvents'], 'true');
  });

  it('joins lines that are split anywhere', async (t) => {
    // A character of two bytes, which may be split too.
    const bytes = Buffer.from(`${JSON.stringify(added('a', 8, 'ä'))}\n`);
    const { tells, events } = await stage(t, [
      async (x) => {
        x.watch(initialEnd(7));
        for (const byte of bytes) {
          await new Promise((resolve) => x.stream.write(Buffer.of(byte), resolve));
        }
      },
    ]);
    await tells('synced', 'put default/a');
    const last = events.at(-1);
    assert.ok(last?.type === 'put' && last.kind === 'service');
    assert.deepEqual(last.object.clusterIPs, ['ä']);
  });
});

describe('Reflector, an unreadable line in a watch that stays open', () => {
  /** Longer than a test waits, so that no silence timeout fires. */
  const timing = { watchSeconds: 300, listSilenceMs: 60_000, watchSilenceMs: 60_000 };
  const PROXY_ERROR = 'upstream connect error or disconnect/reset before headers\n';
  const half = (event: object): string => {
    const line = JSON.stringify(event);
    return `${line.slice(0, line.length / 2)}\n`;
  };
  const lost: Readonly<Record<string, Step>> = {
    'no JSON instead of a change': (x) => x.write(PROXY_ERROR),
    'half a change': (x) => x.write(half(deleted('a', 8))),
    'no JSON before a later change': (x) => {
      x.write(`${PROXY_ERROR}${JSON.stringify(added('c', 10))}\n`);
    },
  };
  for (const [what, send] of Object.entries(lost)) {
    it(`(${what}) leads to a new list immediately, which has the lost change`, async (t) => {
      const { server, clock, told } = await stage(
        t,
        [
          (x) => send(x.watch(added('a', 3), initialEnd(7))),
          (x) => x.watch(added('b', 9), added('c', 10), initialEnd(12)),
        ],
        { timing },
      );
      await until('the change that was lost', () => told().includes(`put ${B}`));
      assert.ok(told().includes(`delete ${A}`));
      assert.equal(told().filter((word) => word === 'put default/c').length, 1);
      const [, next] = server.requests.map(({ query }) => query);
      assert.deepEqual([next?.['sendInitialEvents'], next?.['resourceVersion']], ['true', '']);
      assert.equal(server.requests.length, 2);
      assert.deepEqual(clock.sleptMs, [800], 'not as long as the watch would have lasted');
    });
  }

  it('finishes a list in progress before it lists again', async (t) => {
    const { server, problems, tells } = await stage(
      t,
      [
        async (x) => {
          x.watch(added('a', 3));
          x.write(half(added('b', 4)));
          await until('the line to be read', () => problems.length === 1);
          x.send(initialEnd(7));
        },
        (x) => x.watch(added('a', 3), added('b', 4), initialEnd(8)),
      ],
      { timing },
    );
    await tells(`put ${A}`, 'synced', `put ${B}`);
    assert.equal(server.requests.length, 2);
  });
});
