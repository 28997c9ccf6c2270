import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EndpointRates } from './endpoint-rates.ts';

const WEB = 'shop/web/TCP/IPv4';
const counts = (...endpoints: readonly [endpoint: string, connections: number][]) => ({
  counts: endpoints.map(([endpoint, connections]) => ({
    service: WEB,
    endpoint,
    connections,
    bytes: 0,
  })),
  empty: [],
  leftOut: [],
});

it('has no rate after one reading, and then that of the time between two', () => {
  const rates = new EndpointRates();
  rates.take(counts(['a', 100], ['b', 7]), 1000);
  assert.deepEqual(rates.of(WEB), [
    { endpoint: 'a', connections: 100 },
    { endpoint: 'b', connections: 7 },
  ]);
  rates.take(counts(['a', 130], ['b', 17]), 3000);
  assert.equal(rates.seconds, 2);
  assert.deepEqual(rates.of(WEB), [
    { endpoint: 'a', connections: 130, newPerSecond: 15, share: 0.75 },
    { endpoint: 'b', connections: 17, newPerSecond: 5, share: 0.25 },
  ]);
});

it('counts an endpoint that came, or came back, from 0', () => {
  const rates = new EndpointRates();
  rates.take(counts(['a', 100]), 1000);
  rates.take(counts(['a', 3], ['new', 5]), 2000);
  assert.deepEqual(
    rates.of(WEB)?.map(({ newPerSecond }) => newPerSecond),
    [3, 5],
  );
});

it('has no share without connections, and one of the last 30 s with them', () => {
  const rates = new EndpointRates();
  rates.take(counts(['a', 0], ['b', 0]), 0);
  rates.take(counts(['a', 0], ['b', 0]), 1000);
  assert.deepEqual(
    rates.of(WEB)?.map(({ share }) => share),
    [undefined, undefined],
  );
  rates.take(counts(['a', 9], ['b', 0]), 2000);
  rates.take(counts(['a', 9], ['b', 1]), 30_000);
  assert.deepEqual(
    rates.of(WEB)?.map(({ share }) => share),
    [0.9, 0.1],
  );
  rates.take(counts(['a', 9], ['b', 3]), 40_000);
  assert.deepEqual(
    rates.of(WEB)?.map(({ share }) => share),
    [0, 1],
  );
});

it('begins again with a Service that was not in the last reading', () => {
  const rates = new EndpointRates();
  rates.take(counts(['a', 0]), 0);
  rates.take({ counts: [], empty: [], leftOut: [] }, 60_000);
  assert.equal(rates.of(WEB), undefined);
  rates.take(counts(['a', 600]), 61_000);
  assert.deepEqual(rates.of(WEB), [{ endpoint: 'a', connections: 600 }]);
});

it('knows a Service without endpoints from one that was not read', () => {
  const rates = new EndpointRates();
  rates.take({ counts: [], empty: [WEB], leftOut: [] }, 0);
  assert.deepEqual(rates.of(WEB), []);
});
