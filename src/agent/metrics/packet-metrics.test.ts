import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MetricSet } from '../metrics.ts';
import { PacketMetrics } from './packet-metrics.ts';

it('shows packet counters that the kernel has, and omits others', async () => {
  const set = new MetricSet();
  let localhostAccepted = 3;
  const metrics = new PacketMetrics(set, async () => ({
    invalidDropped: undefined,
    localhostAccepted,
  }));
  await metrics.take();
  localhostAccepted = 5;
  await metrics.take();
  const text = await set.render();
  assert.match(text, /^kubeproxy_iptables_localhost_nodeports_accepted_packets_total 5$/m);
  assert.doesNotMatch(text, /invalid_dropped/);
});
