import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointCount, RejectedCount } from '../../dataplanes/contract.ts';
import { metricsOf, sampleOf } from './testing/told-metrics.ts';

const count = (name: string, endpoint: string, connections: number): EndpointCount => ({
  service: `shop/${name}:http/TCP/IPv4`,
  endpoint,
  connections,
  bytes: 0,
});

/** Metrics over counters that the test sets. */
function metered(most: number) {
  const kernel = {
    counts: [] as EndpointCount[],
    rejected: [] as RejectedCount[] | undefined,
    nowMs: 0,
    costMs: 0,
    reads: 0,
  };
  const metrics = metricsOf({
    clock: { monotonicMs: () => kernel.nowMs, wallMs: () => 0 },
    services: {
      counters: async () => {
        kernel.reads += 1;
        kernel.nowMs += kernel.costMs;
        return kernel.counts;
      },
      rejected: async () => kernel.rejected,
      most,
    },
  });
  const value = async (series: string) => sampleOf(await metrics.render(), series);
  const of = (name: string): string =>
    `{namespace="shop",service="${name}",port="http",protocol="TCP"}`;
  return { kernel, metrics, value, of };
}

describe('fairlead_service_* metrics', () => {
  it('count from the first scrape, also over endpoints that go and come', async () => {
    const { kernel, metrics, value, of } = metered(10);
    kernel.counts = [count('web', 'a', 100), count('web', 'b', 5)];
    await metrics.render();
    kernel.counts = [count('web', 'a', 103), count('web', 'b', 2), count('web', 'c', 4)];
    assert.equal(await value(`fairlead_service_connections_total${of('web')}`), 3 + 2 + 4);
    kernel.counts = [count('web', 'c', 4)];
    assert.equal(await value(`fairlead_service_connections_total${of('web')}`), 9, 'never falls');
  });

  it('have as many series as configured, of the busiest, and say how many are left out', async () => {
    const { kernel, metrics } = metered(3);
    const counts = (n: number) =>
      Array.from({ length: 1000 }, (_, i) => count(`s${i}`, 'a', n * i));
    kernel.counts = counts(1);
    await metrics.render();
    kernel.counts = counts(2);
    const text = await metrics.render();
    const series = text.match(/^fairlead_service_connections_total\{.*$/gm) ?? [];
    assert.deepEqual(
      series.map((line) => /service="(\w+)".* (\d+)$/.exec(line)?.slice(1)),
      [
        ['s999', '999'],
        ['s998', '998'],
        ['s997', '997'],
      ],
    );
    assert.equal(sampleOf(text, 'fairlead_service_ports_left_out'), 996);
  });

  it('leave out rejected packets where the mode does not count them', async () => {
    const { kernel, metrics, of } = metered(3);
    await metrics.render();
    kernel.rejected = [{ service: 'shop/web:http/TCP/IPv4', rejected: 7, dropped: 0 }];
    const series = `fairlead_service_rejected_packets_total${of('web')}`;
    assert.equal(sampleOf(await metrics.render(), series), 7);
    kernel.rejected = undefined;
    kernel.nowMs += 1;
    assert.equal(sampleOf(await metrics.render(), series), undefined);
  });

  it('take at most a fiftieth of the time to read', async () => {
    const { kernel, metrics } = metered(3);
    kernel.costMs = 100;
    for (let scrape = 0; scrape < 100; scrape++) {
      await metrics.render();
      kernel.nowMs += 1000;
    }
    assert.ok(kernel.reads >= 15 && kernel.reads <= 21, `${kernel.reads} reads in 100 s`);
  });

  it('are not there by default', async () => {
    assert.doesNotMatch(await metricsOf().render(), /fairlead_service_/);
  });
});
