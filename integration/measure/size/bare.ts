import { Connection } from '../../../src/cluster/connection.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/load.ts';
import { JSON_ENCODING } from '../../../src/cluster/wire/json-encoding.ts';

/** Run in a process of its own: reads the same lists whole, in JSON as most clients do, and keeps nothing. */
const [kubeconfig = ''] = process.argv.slice(2);
const startedAt = performance.now();
const access = await loadKubeconfig({ files: [kubeconfig] });
const connection = new Connection({ access, accept: JSON_ENCODING.mediaType });
let bytes = 0;
for (const path of ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices']) {
  const text = await read(path);
  bytes += text.length;
  JSON.parse(text);
}
console.log(
  JSON.stringify({
    milliseconds: Math.round(performance.now() - startedAt),
    megabytes: Math.round(bytes / 1e6),
    residentMegabytes: Math.round(process.memoryUsage().rss / 1024 ** 2),
  }),
);
connection.close();

async function read(path: string): Promise<string> {
  const signal = AbortSignal.timeout(60_000);
  const answer = await connection.get(`${path}?resourceVersion=0`, signal);
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
