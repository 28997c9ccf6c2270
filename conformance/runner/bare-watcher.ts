import type { ApiClient, WatchEvent } from '../../lab/api/client.ts';
import { type EndpointSlice, paths, type Service } from '../../lab/api/objects.ts';
import { until } from '../../lab/host/until.ts';

const POLL_MS = 1;
/** The Service, and a slice of each family. */
const OBJECTS = 3;

interface BareWatcherOptions {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly service: string;
  readonly deadlineMs: number;
}

/** A client that only watches a Service and its slices: no proxy can be earlier. */
export class BareWatcher {
  readonly #options: BareWatcherOptions;
  /** The port that each object shows, and since when. */
  readonly #shown = new Map<string, { port: number | undefined; sinceMs: number }>();

  constructor(options: BareWatcherOptions) {
    this.#options = options;
  }

  /** Ends when the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { api, namespace, service } = this.#options;
    const own = `${paths.services(namespace)}?fieldSelector=metadata.name%3D${service}`;
    const label = `kubernetes.io%2Fservice-name%3D${service}`;
    const slices = `${paths.slices(namespace)}?labelSelector=${label}`;
    // Without a version a watch begins with all that is there.
    await Promise.all(
      [own, slices].map((path) =>
        api.watch(`${path}&watch=1`, (event) => this.#take(event), signal),
      ),
    );
  }

  /** Gives the time at which the last of the objects showed the port. */
  async sees(port: number): Promise<number> {
    const { deadlineMs } = this.#options;
    await until(() => this.#shownCount(port) === OBJECTS, {
      what: `the bare watcher to see port ${port}`,
      deadlineMs,
      everyMs: POLL_MS,
    });
    return Math.max(...[...this.#shown.values()].map(({ sinceMs }) => sinceMs));
  }

  #shownCount(port: number): number {
    return [...this.#shown.values()].filter((shown) => shown.port === port).length;
  }

  #take({ type, object }: WatchEvent): void {
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    const { metadata } = object as Service | EndpointSlice;
    const port = portOf(object as Service | EndpointSlice);
    const known = this.#shown.get(metadata.name);
    if (known?.port === port) return;
    this.#shown.set(metadata.name, { port, sinceMs: performance.now() });
  }
}

function portOf(object: Service | EndpointSlice): number | undefined {
  const ports = 'spec' in object ? object.spec.ports : object.ports;
  return ports?.[0]?.port;
}
