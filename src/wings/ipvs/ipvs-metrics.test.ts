import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metricsOf, sampleOf } from '../../agent/metrics/testing/told-metrics.ts';
import type { Clock } from '../../time/clock.ts';
import { IpvsMetrics } from './ipvs-metrics.ts';
import type { IpvsReport } from './plane/ipvs-report.ts';

const REPORT: IpvsReport = {
  virtualServers: 12,
  destinations: 60,
  drainingDestinations: 3,
  activeConnections: 250,
  inactiveConnections: 40,
  schedulers: [
    { name: 'mh', virtualServers: 2 },
    { name: 'rr', virtualServers: 10 },
  ],
};

function metricsReading(
  read: () => Promise<IpvsReport>,
  clock: Pick<Clock, 'monotonicMs'> = { monotonicMs: () => 0 },
) {
  return metricsOf({ series: (set) => new IpvsMetrics(set, { read, clock }) });
}

function value(text: string, series: string): number | undefined {
  return sampleOf(text, `fairlead_ipvs_${series}`);
}

describe('fairlead_ipvs_* metrics', () => {
  it('are the sums that the kernel counts', async () => {
    const text = await metricsReading(async () => REPORT).render();
    for (const [series, expected] of [
      ['virtual_servers{scheduler="rr"}', 10],
      ['virtual_servers{scheduler="mh"}', 2],
      ['destinations{state="serving"}', 60],
      ['destinations{state="draining"}', 3],
      ['connections{state="active"}', 250],
      ['connections{state="inactive"}', 40],
      ['read_failures_total', 0],
    ] as const) {
      assert.equal(value(text, series), expected, series);
    }
  });

  it('leave out a scheduler that no virtual server has any more', async () => {
    let report = REPORT;
    const metrics = metricsReading(async () => report);
    await metrics.render();
    report = { ...REPORT, schedulers: [{ name: 'lc', virtualServers: 1 }] };
    const text = await metrics.render();
    assert.equal(value(text, 'virtual_servers{scheduler="lc"}'), 1);
    assert.equal(value(text, 'virtual_servers{scheduler="rr"}'), undefined);
  });

  it('keep their values and count a failure when the kernel cannot be read', async () => {
    let isBroken = false;
    const read = async (): Promise<IpvsReport> => {
      if (isBroken) throw new Error('no netlink');
      return REPORT;
    };
    const metrics = metricsReading(read);
    await metrics.render();
    isBroken = true;
    const text = await metrics.render();
    assert.equal(value(text, 'destinations{state="serving"}'), 60);
    assert.equal(value(text, 'read_failures_total'), 1);
  });

  it('are read the more rarely the more a read costs', async () => {
    let nowMs = 0;
    let readCount = 0;
    const read = async (): Promise<IpvsReport> => {
      readCount++;
      nowMs += 500;
      return REPORT;
    };
    const metrics = metricsReading(read, { monotonicMs: () => nowMs });
    await metrics.render();
    nowMs = 24_999;
    await metrics.render();
    assert.equal(readCount, 1);
    nowMs = 25_000;
    await metrics.render();
    assert.equal(readCount, 2);
  });

  it('are absent in modes without IPVS', async () => {
    assert.doesNotMatch(await metricsOf().render(), /fairlead_ipvs/);
  });
});
