import type { SliceObject } from '../cluster/objects.ts';
import { endpointKey, listedEndpoints } from './endpoints.ts';
import { type Endpoint, type NodeView, type ServicePortId, servicePortKey } from './model.ts';
import { nameOf } from './register.ts';
import { portsOfSlices } from './slice-ports.ts';

/** About 100 bytes for each. */
const MOST_KEPT = 131_072;

type Addresses = ReadonlySet<string>;

/**
 * Which endpoints serve, whether selected for new flows or not. A conntrack pass queries every flow
 * of a changed Service, so the result is cached until the slices change.
 */
export class ServingEndpoints {
  readonly #mostKept: number;
  /** By Service, then port; least recently used first. */
  readonly #kept = new Map<string, Map<string, Addresses>>();
  #keptCount = 0;

  constructor(mostKept = MOST_KEPT) {
    this.#mostKept = mostKept;
  }

  /** `endpoint`: its address in canonical spelling, whichever the slices use. */
  has(
    id: ServicePortId,
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    cluster: { readonly slices: () => readonly SliceObject[]; readonly view: NodeView },
  ): boolean {
    const name = nameOf(id.namespace, id.service);
    const known = this.#kept.get(name)?.get(servicePortKey(id));
    const serving = known ?? this.#keep(name, id, readServing(id, cluster.slices(), cluster.view));
    return serving.has(endpointKey(endpoint));
  }

  /** The slices of the Service changed. */
  forget(name: string): void {
    const ports = this.#kept.get(name);
    if (ports === undefined) return;
    for (const { size } of ports.values()) this.#keptCount -= size;
    this.#kept.delete(name);
  }

  #keep(name: string, id: ServicePortId, serving: Addresses): Addresses {
    const ports = this.#kept.get(name) ?? new Map<string, Addresses>();
    ports.set(servicePortKey(id), serving);
    this.#kept.delete(name);
    this.#kept.set(name, ports);
    this.#keptCount += serving.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptCount <= this.#mostKept) break;
      this.forget(oldest);
    }
    return serving;
  }
}

/** As canonical `address:port`, whatever the spelling in slices. */
function readServing(id: ServicePortId, slices: readonly SliceObject[], view: NodeView): Addresses {
  const listed = listedEndpoints(id, portsOfSlices(slices, id), view);
  return new Set(listed.filter(({ known }) => known.serving).map(({ key }) => key));
}
