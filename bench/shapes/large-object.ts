import type { ApiClient } from '../../lab/api/client.ts';
import { paths, type Service } from '../../lab/api/objects.ts';
import type { Destination } from '../../lab/host/sockets.ts';
import { readyEndpoint } from '../site/names.ts';
import { INGRESS_ADDRESS, type SliceObject, serviceObject, slicesOf } from './objects.ts';
import type { Replaceable } from './replaced-endpoint.ts';
import type { Shape } from './shapes.ts';

const NAMESPACE = 'large';
const REQUESTS_AT_ONCE = 8;

/** The Services of a shape in a cluster, written through the API server, which checks them. */
export class LargeObject implements Replaceable {
  /** Where it can be asked: the first and the last of its addresses and ports. */
  readonly frontends: readonly Destination[];
  readonly #api: ApiClient;
  readonly #changed: SliceObject;
  #isReplaced = false;

  private constructor(of: {
    api: ApiClient;
    frontends: readonly Destination[];
    changed: SliceObject;
  }) {
    this.frontends = of.frontends;
    this.#api = of.api;
    this.#changed = of.changed;
  }

  static async create(api: ApiClient, shape: Shape): Promise<LargeObject> {
    await api.create(paths.namespaces, { metadata: { name: NAMESPACE } });
    const indexes = Array.from({ length: shape.services }, (_, index) => index);
    const slices = indexes.flatMap((index) => slicesOf(shape, index));
    const services = await inParallel(indexes, (index) =>
      api.create<Service>(paths.services(NAMESPACE), serviceObject(shape, index)),
    );
    if (shape.sourceRanges > 0) await Promise.all(services.map((each) => setIngress(api, each)));
    await inParallel(slices, (slice) => api.create(paths.slices(NAMESPACE), slice));
    const [changed] = slices;
    const last = services.at(-1);
    if (changed === undefined || last === undefined) throw new Error('the shape has no Services');
    return new LargeObject({ api, changed, frontends: frontendsOf(last) });
  }

  /** The first endpoint of its first slice is another one from now on. */
  async replace(address: string): Promise<void> {
    const [, ...rest] = this.#changed.endpoints;
    this.#isReplaced = true;
    await this.#patch([readyEndpoint(address, 'elsewhere-a'), ...rest]);
  }

  async restore(): Promise<void> {
    if (!this.#isReplaced) return;
    this.#isReplaced = false;
    await this.#patch(this.#changed.endpoints);
  }

  async #patch(endpoints: readonly object[]): Promise<void> {
    await this.#api.patch(paths.slice(NAMESPACE, this.#changed.metadata.name), { endpoints });
  }
}

async function setIngress(api: ApiClient, { metadata }: Service): Promise<void> {
  const status = { loadBalancer: { ingress: [{ ip: INGRESS_ADDRESS }] } };
  await api.patch(`${paths.service(NAMESPACE, metadata.name)}/status`, { status });
}

function frontendsOf({ spec }: Service): Destination[] {
  const ports = (spec.ports ?? []).map(({ port }) => port);
  const addresses = [spec.clusterIP ?? '', ...(spec.externalIPs ?? [])];
  return ends(addresses).flatMap((address) => ends(ports).map((port) => ({ address, port })));
}

function ends<T>(items: readonly T[]): T[] {
  return [...new Set([...items.slice(0, 1), ...items.slice(-1)])];
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker));
  return results;
}
