import { setInterval as everyMs } from 'node:timers/promises';
import type { ApiClient } from '../../lab/api/client.ts';
import { paths } from '../../lab/api/objects.ts';
import { type LoadSize, loadObjects } from '../../lab/load/objects.ts';

/** The most that are ever changed. */
const MOST_SLICES = 150;
const PACE_MS = 20;

interface LoadedSlice {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly endpoints: readonly object[];
}

/** The slices that were loaded, some of which are changed through the API server. */
export class LoadedSlices {
  readonly #api: ApiClient;
  readonly #slices: readonly LoadedSlice[];

  constructor(api: ApiClient, size: LoadSize) {
    this.#api = api;
    this.#slices = someSlices(size);
  }

  /**
   * One endpoint of a slice is no longer ready, in another slice each time and fifty a second; then
   * in all of them it is again. Gives how many changes that were.
   */
  async flip(signal: AbortSignal): Promise<number> {
    let changes = 0;
    for (const ready of [false, true]) {
      const waiting = [...this.#slices];
      if (waiting.length === 0) continue;
      for await (const _ of everyMs(PACE_MS)) {
        signal.throwIfAborted();
        const slice = waiting.pop();
        if (slice === undefined) break;
        await this.#set(slice, ready);
        changes++;
      }
    }
    return changes;
  }

  async #set({ metadata, endpoints }: LoadedSlice, ready: boolean): Promise<void> {
    const [first, ...rest] = endpoints;
    const conditions = { ready, serving: ready, terminating: false };
    await this.#api.patch(paths.slice(metadata.namespace, metadata.name), {
      endpoints: [{ ...first, conditions }, ...rest],
    });
  }
}

function someSlices(size: LoadSize): LoadedSlice[] {
  const every = Math.max(1, Math.ceil(size.services / MOST_SLICES));
  const found: LoadedSlice[] = [];
  let seen = 0;
  for (const { key, value } of loadObjects(size)) {
    if (!key.startsWith('/registry/endpointslices/') || seen++ % every !== 0) continue;
    found.push(value as LoadedSlice);
  }
  return found;
}
