import { ApiSource } from '../../src/cluster/api-source.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig/load.ts';
import type { SliceObject } from '../../src/cluster/objects.ts';
import type { Source } from '../../src/cluster/source.ts';
import { Observation } from '../../src/commands/services/observe.ts';
import { unknownNode } from '../../src/forwarding/unknown-node.ts';

const ROUNDS = 5_000;
/** A prime, so that the rounds do not come back to the same few Services. */
const STRIDE = 7_919;

/** Run in a process of its own: connects, builds the whole model, and tells what that took. */
const [kubeconfig = ''] = process.argv.slice(2);
const startedAt = performance.now();
const access = await loadKubeconfig({ files: [kubeconfig] });
const source: Source = new ApiSource({ connection: { access }, nodeName: 'node1' });
const observation = new Observation(unknownNode('node1'));
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

/** Median time from a changed slice to the changed row, over Services all through the cluster. */
function measureChange(): number {
  const names = observation.table.serviceNames();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [slice] = observation.table.slicesOf(names[(round * STRIDE) % names.length] ?? '');
    if (!slice || slice.endpoints.length < 2) continue;
    const without: SliceObject = { ...slice, endpoints: slice.endpoints.slice(1) };
    times.push(timeOf(without), timeOf(slice));
  }
  times.sort((a, b) => a - b);
  return (times[times.length >> 1] ?? Number.NaN) * 1_000;
}

function timeOf(slice: SliceObject): number {
  const startedAtMs = performance.now();
  observation.table.putSlice(slice);
  const changes = observation.table.takeChanges();
  const elapsedMs = performance.now() - startedAtMs;
  if (changes.length !== 1) throw new Error('the change made no change');
  return elapsedMs;
}
