import { setInterval as everyMs } from 'node:timers/promises';
import type { ApiClient } from '../../../lab/api/client.ts';
import { paths } from '../../../lab/api/objects.ts';

const NAMESPACE = 'added';
const PORTS = [{ name: 'http', protocol: 'TCP', port: 8080 }];
const PACE_MS = 20;

/** Changes of a loaded cluster through its API server, at a modest rate: fifty a second. */
export class ApiChanges {
  readonly #api: ApiClient;
  #addedCount = 0;

  constructor(api: ApiClient) {
    this.#api = api;
  }

  async prepare(): Promise<void> {
    await this.#api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
  }

  /** A Service comes and goes again: two changes each. Its slice stays, so that it has endpoints. */
  async comeAndGo(count: number): Promise<void> {
    const names = Array.from({ length: count }, () => `come-${this.#addedCount++}`);
    for (const name of names) await this.#createSlice(name);
    await inOrder(names, (name) =>
      this.#api.create(paths.services(NAMESPACE), { metadata: { name }, spec: { ports: PORTS } }),
    );
    await inOrder(names, (name) => this.#api.delete(paths.service(NAMESPACE, name)));
  }

  async #createSlice(name: string): Promise<void> {
    const labels = {
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': 'scale',
    };
    const endpoints = ['10.250.0.1', '10.250.0.2'].map((address) => ({
      addresses: [address],
      nodeName: 'elsewhere-a',
      conditions: { ready: true },
    }));
    const slice = { metadata: { name, labels }, addressType: 'IPv4', endpoints, ports: PORTS };
    await this.#api.create(paths.slices(NAMESPACE), slice);
  }
}

async function inOrder(names: readonly string[], work: (name: string) => Promise<unknown>) {
  let next = 0;
  await atPace(names.length, async () => {
    await work(names[next++] ?? '');
  });
}

/** One after the other, and no more than the pace allows. */
async function atPace(count: number, work: () => Promise<void>): Promise<void> {
  let done = 0;
  if (count === 0) return;
  for await (const _ of everyMs(PACE_MS)) {
    await work();
    if (++done === count) return;
  }
}
