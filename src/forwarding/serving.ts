import type { SliceObject } from '../cluster/objects.ts';
import { endpointKey, listedEndpoints } from './endpoints.ts';
import { type Endpoint, type NodeView, type ServicePortId, servicePortKey } from './model.ts';
import { nameOf } from './register.ts';
import { portsOfSlices } from './slice-ports.ts';

/** About 100 bytes for each. */
const MOST_KEPT = 131_072;

type Addresses = ReadonlySet<string>;

/**
 * Which endpoints serve, selected for new flows or not. A look at connection tracking asks it for
 * every flow of a Service that changed, so what was read of the slices is kept until they change.
 */
export class ServingEndpoints {
  readonly #mostKept: number;
  /** By Service, then by port; the Service that was asked for last is the last. */
  readonly #kept = new Map<string, Map<string, Addresses>>();
  #keptCount = 0;

  constructor(mostKept = MOST_KEPT) {
    this.#mostKept = mostKept;
  }

  /** `endpoint`: its address in canonical spelling, whichever the slices use. */
  has(
    id: ServicePortId,
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    of: { readonly slices: () => readonly SliceObject[]; readonly view: NodeView },
  ): boolean {
    const name = nameOf(id.namespace, id.service);
    const known = this.#kept.get(name)?.get(servicePortKey(id));
    const serving = known ?? this.#keep(name, id, readServing(id, of.slices(), of.view));
    return serving.has(endpointKey(endpoint));
  }

  /** The slices of the Service are not what they were. */
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

/** As `address:port`, read as selection reads them: one spelling for what slices may spell in many. */
function readServing(id: ServicePortId, slices: readonly SliceObject[], view: NodeView): Addresses {
  const listed = listedEndpoints(id, portsOfSlices(slices, id), view);
  return new Set(listed.filter(({ known }) => known.serving).map(({ key }) => key));
}
