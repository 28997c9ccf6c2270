import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MetricSet } from '../../agent/metrics.ts';
import { PacketMetrics } from './packet-metrics.ts';

it('shows the current counters of the kernel, and omits those it does not have', async () => {
  const set = new MetricSet();
  let accepted = 3;
  const metrics = new PacketMetrics(set, async () => [
    { name: 'dropped_total', help: 'dropped', count: undefined },
    { name: 'accepted_total', help: 'accepted', count: accepted },
  ]);
  await metrics.take();
  accepted = 5;
  await metrics.take();
  const text = await set.render();
  assert.match(text, /^accepted_total 5$/m);
  assert.doesNotMatch(text, /dropped/);
});
