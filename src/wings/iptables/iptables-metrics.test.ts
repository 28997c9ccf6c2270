import assert from 'node:assert/strict';
import { it } from 'node:test';
import { metricsOf, sampleOf } from '../../agent/metrics/testing/told-metrics.ts';
import { IptablesMetrics } from './iptables-metrics.ts';

it('counts the rules of each table, and those of the last transaction', async () => {
  const ruleCounts = () => [
    { table: 'nat', family: 'IPv4', total: 41, lastWritten: 3 } as const,
    { table: 'filter', family: 'IPv4', total: 7, lastWritten: 0 } as const,
  ];
  const packetCounters = async () => [];
  const text = await metricsOf({
    series: (set) => new IptablesMetrics(set, { ruleCounts, packetCounters }),
  }).render();
  const rules = 'kubeproxy_sync_proxy_rules_iptables';
  assert.equal(sampleOf(text, `${rules}_total{table="nat",ip_family="IPv4"}`), 41);
  assert.equal(sampleOf(text, `${rules}_last{table="nat",ip_family="IPv4"}`), 3);
  assert.equal(sampleOf(text, `${rules}_last{table="filter",ip_family="IPv4"}`), 0);
});
