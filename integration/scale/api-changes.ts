import { setInterval as everyMs } from 'node:timers/promises';
import type { ApiClient } from '../../lab/api/client.ts';
import { paths } from '../../lab/api/objects.ts';
import { type LoadSize, loadObjects } from '../../lab/load/objects.ts';

/** So many at most are ever changed; with few Services each is changed again and again. */
const MOST_SLICES = 1_500;
const NAMESPACE = 'added';
const PORTS = [{ name: 'http', protocol: 'TCP', port: 8080 }];
const PACE_MS = 20;

interface LoadedSlice {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly endpoints: readonly object[];
  isShort: boolean;
}

/** Changes of a loaded cluster through its API server, at a modest rate: fifty a second. */
export class ApiChanges {
  readonly #api: ApiClient;
  readonly #slices: LoadedSlice[];
  #flipCount = 0;
  #addedCount = 0;

  constructor(api: ApiClient, size: LoadSize) {
    this.#api = api;
    this.#slices = someSlices(size);
  }

  async prepare(): Promise<void> {
    await this.#api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
  }

  /** One endpoint of a slice is no longer ready, or is again; another slice each time. */
  async flip(count: number): Promise<void> {
    await atPace(count, async () => {
      const slice = this.#slices[this.#flipCount++ % this.#slices.length];
      if (!slice) throw new Error('the cluster has no slices');
      slice.isShort = !slice.isShort;
      const [first, ...rest] = slice.endpoints;
      const ready = !slice.isShort;
      const conditions = { ready, serving: ready, terminating: false };
      const endpoints = [{ ...first, conditions }, ...rest];
      const { namespace, name } = slice.metadata;
      await this.#api.patch(paths.slice(namespace, name), { endpoints });
    });
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

function someSlices(size: LoadSize): LoadedSlice[] {
  const every = Math.ceil(size.services / MOST_SLICES);
  const found: LoadedSlice[] = [];
  let seen = 0;
  for (const { key, value } of loadObjects(size)) {
    if (!key.startsWith('/registry/endpointslices/') || seen++ % every !== 0) continue;
    found.push({ ...(value as Omit<LoadedSlice, 'isShort'>), isShort: false });
  }
  return found;
}
