import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answers, Hello, Request } from '../protocol.ts';
import { rowDigest } from '../row-digest.ts';
import { Requests, type RequestsOptions } from './requests.ts';
import { testDirectory, testFrontend, testRow } from './testing/directories.ts';

function requestsOf(options: Partial<RequestsOptions> = {}) {
  const { directory } = testDirectory();
  const calls: string[] = [];
  const threads = {
    pulse: async () => 0,
    settle: async () => void calls.push('settle'),
  } as unknown as RequestsOptions['threads'];
  const life: RequestsOptions['life'] = {
    isDraining: false,
    drain: async () => undefined,
    takeOver: async () => ({ pairs: 0, affinities: 0, ms: 0 }),
  };
  const requests = new Requests({
    hello: {} as Hello,
    mostConnections: 10,
    directory,
    threads,
    life,
    nowMs: () => 0,
    ...options,
  });
  const ask = async <Asked extends Request['do']>(
    request: Extract<Request, { do: Asked }>,
  ): Promise<Answers[Asked]> => JSON.parse((await requests.answer(request)).join(''));
  return { ask, directory, calls };
}

const rowOf = (index: number) =>
  testRow(`row-${index}`, {
    frontends: [testFrontend(`10.96.${index >> 8}.${index & 255}`, 80)],
    cluster: Array.from({ length: 50 }, (_, at) => `10.${at}.${index >> 8}.${index & 255} 80`),
  });

test('applies thousands of rows in many event loop iterations', async () => {
  const { ask, calls } = requestsOf();
  const rows = Array.from({ length: 5_000 }, (_, index) => rowOf(index));
  let iterations = 0;
  let isApplied = false;
  const count = (): void => {
    iterations++;
    if (!isApplied) setImmediate(count);
  };
  setImmediate(count);
  const { rowCount } = await ask({ do: 'apply', changes: rows.map((set) => ({ set })) });
  isApplied = true;
  assert.equal(rowCount, 5_000);
  assert.ok(iterations > 5, `${iterations} iterations`);
  assert.deepEqual(calls, ['settle']);
  const digests = new Map(await ask({ do: 'digests' }));
  assert.deepEqual(digests, new Map(rows.map((row) => [row.key, rowDigest(row)])));
});

test('applies one request after the other', async () => {
  const { ask, directory } = requestsOf();
  const first = Array.from({ length: 3_000 }, (_, index) => ({ set: rowOf(index) }));
  const second = first.map(({ set }) => ({ delete: set.key }));
  await Promise.all([ask({ do: 'apply', changes: first }), ask({ do: 'apply', changes: second })]);
  assert.equal(directory.rows.rowCount, 0);
});

test('goes on after a request that failed', async () => {
  const { ask } = requestsOf();
  const failed = ask({ do: 'apply', changes: [{ change: 'a/b/TCP/IPv4' }] });
  await assert.rejects(failed, /no row a\/b\/TCP\/IPv4/);
  assert.deepEqual(await ask({ do: 'apply', changes: [{ set: rowOf(1) }] }), { rowCount: 1 });
});

test('accepts no more connections from nine tenths of the limit on', async () => {
  for (const [open, accepts] of [
    [8, true],
    [9, false],
  ] as const) {
    const threads = { pulse: async () => open } as unknown as RequestsOptions['threads'];
    const { ask } = requestsOf({ threads });
    assert.deepEqual(await ask({ do: 'pulse' }), {
      openConnections: open,
      mostConnections: 10,
      accepts,
      isDraining: false,
    });
  }
});
