import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metricsOf, sampleOf } from '../../agent/metrics/testing/told-metrics.ts';
import { ForwarderMetrics } from './forwarder-metrics.ts';
import type { ForwarderReport } from './plane/forwarder-report.ts';

const RUNNING: ForwarderReport = {
  process: {
    pid: 4711,
    threadCount: 2,
    mostConnections: 1000,
    totals: {
      connections: 40,
      open: 7,
      bytesToEndpoint: 300,
      bytesToClient: 9000,
      connectMicroseconds: 2_500_000,
      refused: 3,
      timedOut: 1,
      avoidedEndpoints: 2,
      failed: 5,
      unknownFrontend: 4,
    },
  },
  newConnectionsTo: 'forwarder',
  startCount: 2,
  handedOver: 31,
  declined: { rowCount: 6, namespaces: [{ name: 'evil', rowCount: 6 }] },
  translatedByKernel: 8,
};

function metricsReading(read: () => Promise<ForwarderReport>) {
  return metricsOf({ series: (set) => new ForwarderMetrics(set, read) });
}

function value(text: string, series: string): number | undefined {
  return sampleOf(text, `fairlead_forwarder_${series}`);
}

describe('fairlead_forwarder_* metrics', () => {
  it('are the sums that the forwarder reports', async () => {
    const text = await metricsReading(async () => RUNNING).render();
    for (const [series, expected] of [
      ['up', 1],
      ['takes_connections', 1],
      ['open_connections', 7],
      ['connections_room', 1000],
      ['avoided_endpoints', 2],
      ['declined_rows', 6],
      ['starts_total', 2],
      ['handed_over_total', 31],
      ['kernel_connections_total', 8],
      ['connections_total', 40],
      ['bytes_total{direction="to_endpoint"}', 300],
      ['bytes_total{direction="to_client"}', 9000],
      ['connect_seconds_total', 2.5],
      ['failed_attempts_total{reason="refused"}', 3],
      ['failed_attempts_total{reason="timed_out"}', 1],
      ['failed_connections_total{reason="no_endpoint"}', 5],
      ['failed_connections_total{reason="unknown_frontend"}', 4],
    ] as const) {
      assert.equal(value(text, series), expected, series);
    }
  });

  it('keep the counters of a forwarder that ended, and say that it is down', async () => {
    let report = RUNNING;
    const metrics = metricsReading(async () => report);
    await metrics.render();
    report = { newConnectionsTo: 'kernel', why: 'it ended', startCount: 2, handedOver: 31 };
    const text = await metrics.render();
    assert.equal(value(text, 'up'), 0);
    assert.equal(value(text, 'takes_connections'), 0);
    assert.equal(value(text, 'open_connections'), 0);
    assert.equal(value(text, 'connections_total'), 40);
  });

  it('are absent in modes without a forwarder', async () => {
    assert.doesNotMatch(await metricsOf().render(), /fairlead_forwarder/);
  });
});
