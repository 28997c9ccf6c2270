import { ApiSource } from '../../src/cluster/api-source.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig/load.ts';
import type { SliceObject } from '../../src/cluster/objects.ts';
import type { Source } from '../../src/cluster/source.ts';
import { Observation } from '../../src/commands/services/observe.ts';

/** Run in a process of its own: connects, builds the whole model, and tells what that took. */
const [kubeconfig = ''] = process.argv.slice(2);
const startedAt = performance.now();
const access = await loadKubeconfig({ files: [kubeconfig] });
const source: Source = new ApiSource({ connection: { access }, nodeName: 'node1' });
const observation = new Observation({
  nodeName: 'node1',
  zone: '',
  nodeIPs: [],
  detectsPods: { IPv4: true, IPv6: true },
  masqueradeAll: false,
  allowExternalIPs: true,
});
const lifetime = new AbortController();
const following = observation.follow(source, lifetime.signal);
await observation.complete;
const milliseconds = performance.now() - startedAt;
const ports = observation.table.takeChanges().length;
const { rss, heapUsed } = process.memoryUsage();
console.log(
  JSON.stringify({
    milliseconds: Math.round(milliseconds),
    ports,
    residentMegabytes: Math.round(rss / 1024 ** 2),
    heapMegabytes: Math.round(heapUsed / 1024 ** 2),
    changeMicroseconds: Math.round(measureChange()),
  }),
);
lifetime.abort();
await following;

/** The time from a changed slice to the changed row, over one Service in the middle of all. */
function measureChange(): number {
  const { table } = observation;
  const names = table.serviceNames();
  const name = names[Math.floor(names.length / 2)] ?? '';
  const [slice] = table.slicesOf(name);
  if (!slice) return Number.NaN;
  const without: SliceObject = { ...slice, endpoints: slice.endpoints.slice(1) };
  const rounds = 2_000;
  for (let round = 0; round < rounds; round++) flip(slice, without);
  const from = performance.now();
  for (let round = 0; round < rounds; round++) flip(slice, without);
  return ((performance.now() - from) * 1_000) / (2 * rounds);
}

function flip(one: SliceObject, other: SliceObject): void {
  for (const slice of [other, one]) {
    observation.table.putSlice(slice);
    if (observation.table.takeChanges().length !== 1) throw new Error('the change made no change');
  }
}
