import { ApiSource } from '../../../src/cluster/api-source.ts';
import { Connection } from '../../../src/cluster/connection.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/load.ts';
import { listAll } from '../../../src/cluster/list.ts';
import { SLICES } from '../../../src/cluster/resources.ts';
import type { Source } from '../../../src/cluster/source.ts';
import { JSON_ENCODING } from '../../../src/cluster/wire/json-encoding.ts';
import { Observation } from '../../../src/commands/services/observe.ts';
import { ForwardingTable } from '../../../src/forwarding/table.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';
import { ChangeBench, type Comparison, compareChanges, type RawSlice } from './change.ts';

/** What the time of a change is compared with. */
const FEW_SERVICES = 100;
const SILENCE_MS = 30_000;

/** Run in a process of its own: connects, builds the whole model, and reports time and memory. */
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
lifetime.abort();
await following;
console.log(
  JSON.stringify({
    milliseconds: Math.round(milliseconds),
    ports,
    residentMegabytes: Math.round(rss / 1024 ** 2),
    heapMegabytes: Math.round(heapUsed / 1024 ** 2),
    change: await measureChange(),
  }),
);

/** With the slices as the API server has them, read once more. */
async function measureChange(): Promise<Comparison> {
  const { table } = observation;
  const names = table.serviceNames();
  const few = new Set(names.slice(0, FEW_SERVICES));
  const fewTable = new ForwardingTable(table.view);
  for (const name of few) {
    const service = table.service(name);
    if (service) fewTable.putService(service);
  }
  const large = new ChangeBench(table, { sliceCount: names.length });
  const small = new ChangeBench(fewTable, { sliceCount: few.size });
  await readSlices((service, raw) => {
    large.tell(raw);
    if (few.has(service)) small.tell(raw);
  });
  large.ready();
  small.ready();
  return compareChanges(large, small);
}

async function readSlices(onSlice: (service: string, raw: RawSlice) => void): Promise<void> {
  // In JSON: the lines that are made of them later hold every field that the API server writes.
  const connection = new Connection({ access, accept: JSON_ENCODING.mediaType });
  await listAll({
    getter: connection,
    resource: SLICES,
    resourceVersion: '0',
    signal: AbortSignal.timeout(60_000),
    silenceMs: SILENCE_MS,
    onItem: (item) => {
      const raw = item as RawSlice & { metadata: { namespace: string; labels: object } };
      const label = new Map<string, string>(Object.entries(raw.metadata.labels));
      const service = `${raw.metadata.namespace}/${label.get('kubernetes.io/service-name')}`;
      onSlice(service, raw);
    },
    onRestart: () => {
      throw new Error('the list of slices was restarted, so some would count twice: run it again');
    },
  });
  connection.close();
}
