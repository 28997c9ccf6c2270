import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answers, Hello, Request } from '../forwarder-protocol.ts';
import { rowDigest } from '../row-digest.ts';
import { Requests, type RequestsOptions } from './requests.ts';
import { testDirectory, testFrontend, testRow } from './testing/directories.ts';

function requestsOf(options: Partial<RequestsOptions> = {}) {
  const { directory } = testDirectory({ mostSlots: 1_000_000 });
  const warnings: string[] = [];
  const threads = { pulse: async () => 0 } as unknown as RequestsOptions['threads'];
  const life: RequestsOptions['life'] = {
    isDraining: false,
    drain: async () => undefined,
    takeOver: async () => ({ pairs: 0, affinities: 0 }),
  };
  const requests = new Requests({
    hello: {} as Hello,
    mostConnections: 10,
    directory,
    threads,
    life,
    nowMs: () => 0,
    log: { warn: (message) => void warnings.push(message) },
    ...options,
  });
  const ask = async <Asked extends Request['do']>(
    request: Extract<Request, { do: Asked }>,
  ): Promise<Answers[Asked]> => JSON.parse((await requests.answer(request)).join(''));
  return { ask, directory, warnings };
}

const rowOf = (index: number) =>
  testRow(`row-${index}`, {
    frontends: [testFrontend(`10.96.${index >> 8}.${index & 255}`, 80)],
    cluster: Array.from({ length: 20 }, (_, at) => `10.${at}.${index >> 8}.${index & 255} 80`),
  });

test('applies thousands of rows in many event loop iterations', async () => {
  const { ask } = requestsOf();
  const rows = Array.from({ length: 5_000 }, (_, index) => rowOf(index));
  let iterations = 0;
  let isApplied = false;
  const count = (): void => {
    iterations++;
    if (!isApplied) setImmediate(count);
  };
  setImmediate(count);
  await ask({ do: 'apply', changes: rows.map((set) => ({ set })) });
  isApplied = true;
  assert.ok(iterations > 5, `${iterations} iterations`);
  const digests = new Map(await ask({ do: 'digests' }));
  assert.deepEqual(digests, new Map(rows.map((row) => [row.key, rowDigest(row)])));
});

test('applies one request after the other', async () => {
  const { ask, directory } = requestsOf();
  const first = Array.from({ length: 3_000 }, (_, index) => ({ set: rowOf(index) }));
  const second = first.map(({ set }) => ({ delete: set.key }));
  await Promise.all([ask({ do: 'apply', changes: first }), ask({ do: 'apply', changes: second })]);
  assert.deepEqual([...directory.rows.digests()], []);
});

test('declines a row that cannot be taken, and takes the others', async () => {
  const { ask, directory, warnings } = requestsOf();
  const [bad, good] = [testRow('bad', { cluster: ['nonsense'] }), rowOf(1)];
  const changes = [{ set: bad }, { set: good }, { change: 'a/b/TCP/IPv4' }];
  const answer = await ask({ do: 'apply', changes });
  assert.deepEqual(answer.declined.toSorted(), ['a/b/TCP/IPv4', bad.key]);
  assert.equal(warnings.length, 1);
  assert.ok(!directory.rows.isDeclined(good.key));
});

test('accepts no more connections from nine tenths of the limit on', async () => {
  for (const [open, accepts] of [
    [8, true],
    [9, false],
  ] as const) {
    const threads = {
      pulse: async () => open,
      lacksRoom: false,
    } as unknown as RequestsOptions['threads'];
    const { ask } = requestsOf({ threads });
    assert.deepEqual(await ask({ do: 'pulse' }), {
      openConnections: open,
      mostConnections: 10,
      accepts,
      isDraining: false,
    });
  }
});

test('accepts no more connections while threads lack room', async () => {
  const threads = {
    pulse: async () => 0,
    lacksRoom: true,
  } as unknown as RequestsOptions['threads'];
  const { ask } = requestsOf({ threads });
  assert.equal((await ask({ do: 'pulse' })).accepts, false);
});
