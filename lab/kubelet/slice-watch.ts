import type { ApiClient, WatchEvent } from '../api/client.ts';
import { type EndpointSlice, paths } from '../api/objects.ts';
import { until } from '../host/until.ts';

const SLICE_DEADLINE_MS = 20_000;
const POLL_MS = 15;

/** Follows every EndpointSlice of the cluster, so that a step can wait for the controllers. */
export class SliceWatch {
  readonly #api: ApiClient;
  readonly #lifetime: AbortSignal;
  readonly #slices = new Map<string, EndpointSlice>();
  #listed = false;
  #running: Promise<void> | undefined;

  constructor(api: ApiClient, lifetime: AbortSignal) {
    this.#api = api;
    this.#lifetime = lifetime;
  }

  /** Resolves once what the watch shows of a namespace is as asked for. */
  async until(
    namespace: string,
    wait: { what: string; holds: (slices: readonly EndpointSlice[]) => boolean },
  ): Promise<void> {
    // A lab that waits for no slice, of fifty thousand perhaps, does not read them.
    this.#running ??= this.#run();
    const holds = (): boolean => this.#listed && wait.holds(this.#inNamespace(namespace));
    await until(holds, {
      what: `slices of ${namespace}: ${wait.what}`,
      deadlineMs: SLICE_DEADLINE_MS,
      everyMs: POLL_MS,
    });
  }

  /** Resolves when the watch has ended, after its lifetime was. */
  async ended(): Promise<void> {
    await this.#running;
  }

  /** Lists, then watches; lists again whenever the server ends a watch. */
  async #run(): Promise<void> {
    while (!this.#lifetime.aborted) {
      const list = await this.#api.list<EndpointSlice>(paths.allSlices);
      this.#slices.clear();
      for (const slice of list.items) this.#slices.set(keyOf(slice), slice);
      this.#listed = true;
      const path = `${paths.allSlices}?watch=1&resourceVersion=${list.resourceVersion}`;
      await this.#api.watch(path, (event) => this.#apply(event), this.#lifetime);
    }
  }

  #inNamespace(namespace: string): EndpointSlice[] {
    return [...this.#slices.values()].filter((slice) => slice.metadata.namespace === namespace);
  }

  #apply(event: WatchEvent): void {
    if (event.type === 'BOOKMARK' || event.type === 'ERROR') return;
    const slice = event.object as EndpointSlice;
    if (event.type === 'DELETED') this.#slices.delete(keyOf(slice));
    else this.#slices.set(keyOf(slice), slice);
  }
}

function keyOf(slice: EndpointSlice): string {
  return `${slice.metadata.namespace}/${slice.metadata.name}`;
}
