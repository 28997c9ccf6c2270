import type { ApiClient } from '../../../lab/api/client.ts';
import { paths } from '../../../lab/api/objects.ts';
import { askEtcd, base64, EtcdAgent } from '../../../lab/control-plane/etcd-gateway.ts';
import { writeToEtcd } from '../../../lab/load/etcd-writer.ts';
import { loadObjects, type StoredObject } from '../../../lab/load/objects.ts';

/** The cluster that the faults happen to: Services of `lab/load`, each deleted or changed once. */
export const LOAD = { services: 300, endpointsPerService: 3 };

const SERVICES_PER_NAMESPACE = 100;
/** Services that only exist in the store before the API server sees them begin here. */
const FIRST_STORED = 1_000;
const PORTS = [{ name: 'http', protocol: 'TCP', port: 8080 }];

/** Creates, changes and deletes Services and slices, never the same twice. */
export class Changes {
  readonly #fabricPath: string;
  #nextLoaded = 0;
  #nextStored = FIRST_STORED;
  #created = 0;

  constructor(fabricPath: string) {
    this.#fabricPath = fabricPath;
  }

  /** Creates, deletes and changes a number of Services each, as a person or a controller would. */
  async throughApi(api: ApiClient, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await this.#create(api);
      const gone = this.#take();
      await api.delete(paths.service(gone.namespace, gone.name));
      await api.delete(paths.slice(gone.namespace, `${gone.name}-0`));
      const changed = this.#take();
      const ports = [{ name: 'http', protocol: 'TCP', port: 81, targetPort: 8080 }];
      await api.patch(paths.service(changed.namespace, changed.name), { spec: { ports } });
      const endpoints = [{ addresses: ['10.129.0.200'], nodeName: 'node1', conditions: {} }];
      await api.patch(paths.slice(changed.namespace, `${changed.name}-0`), { endpoints });
    }
  }

  /** The same behind the back of an API server that cannot be asked: real events of the store. */
  async inStore(count: number): Promise<void> {
    const first = this.#nextStored;
    this.#nextStored += count;
    const changed = new Set(Array.from({ length: count }, () => this.#take().index));
    const size = { services: this.#nextStored, endpointsPerService: LOAD.endpointsPerService + 1 };
    const isWanted = (index: number): boolean => changed.has(index) || index >= first;
    await this.#write(objectsOf(size, isWanted));
    const gone = Array.from({ length: count }, () => this.#take());
    const keys = gone.flatMap(({ namespace, name }) => [
      `/registry/services/specs/${namespace}/${name}`,
      `/registry/endpointslices/${namespace}/${name}-0`,
    ]);
    await this.#ask(async (agent) => {
      for (const key of keys) await askEtcd(agent, '/v3/kv/deleterange', { key: base64(key) });
    });
  }

  /** New Services with a slice each, and each slice changed twice: four events for each. */
  async burst(services: number): Promise<void> {
    const first = this.#nextStored;
    this.#nextStored += services;
    for (const endpointsPerService of [1, 2, 3]) {
      const size = { services: this.#nextStored, endpointsPerService };
      const objects = objectsOf(size, (index) => index >= first);
      await this.#write(endpointsPerService === 1 ? objects : onlySlices(objects));
    }
  }

  /** Lets the store forget how it came to be as it is. */
  async compact(): Promise<void> {
    await this.#ask(async (agent) => {
      const answer = await askEtcd(agent, '/v3/kv/range', { key: base64('/registry/none') });
      const { header } = JSON.parse(answer) as { header: { revision: string } };
      const body = { revision: header.revision, physical: true };
      await askEtcd(agent, '/v3/kv/compaction', body);
    });
  }

  async #create(api: ApiClient): Promise<void> {
    const name = `new-${this.#created++}`;
    const labels = { 'kubernetes.io/service-name': name };
    const endpoints = [{ addresses: ['10.129.0.9'], nodeName: 'node1', conditions: {} }];
    const slice = { metadata: { name, labels }, addressType: 'IPv4', endpoints, ports: PORTS };
    await api.create(paths.services('default'), { metadata: { name }, spec: { ports: PORTS } });
    await api.create(paths.slices('default'), slice);
  }

  #take(): { index: number; namespace: string; name: string } {
    const index = this.#nextLoaded++;
    if (index >= LOAD.services)
      throw new Error('every loaded Service is changed already: load more Services');
    const namespace = `load-${Math.floor(index / SERVICES_PER_NAMESPACE)}`;
    return { index, namespace, name: `svc-${String(index).padStart(5, '0')}` };
  }

  async #write(objects: Iterable<StoredObject>): Promise<void> {
    const onProgress = (): void => undefined;
    await writeToEtcd({
      namespacePath: this.#fabricPath,
      objects,
      onProgress,
      objectsPerTransaction: 1,
    });
  }

  async #ask(work: (agent: EtcdAgent) => Promise<void>): Promise<void> {
    const agent = new EtcdAgent(this.#fabricPath);
    try {
      await work(agent);
    } finally {
      agent.destroy();
    }
  }
}

function* objectsOf(
  size: typeof LOAD,
  isWanted: (index: number) => boolean,
): Generator<StoredObject> {
  for (const object of loadObjects(size)) {
    const serial = /\/svc-(\d+)/.exec(object.key)?.[1];
    if (serial !== undefined && isWanted(Number(serial))) yield object;
  }
}

function* onlySlices(objects: Iterable<StoredObject>): Generator<StoredObject> {
  for (const object of objects) if (object.key.includes('/endpointslices/')) yield object;
}
