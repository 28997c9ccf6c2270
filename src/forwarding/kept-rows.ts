import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import { forwardingOf } from './compile.ts';
import { EndpointLists } from './endpoint-lists.ts';
import type { KnownEndpoint } from './endpoints.ts';
import { equalOutcomes, equalTexts } from './equal.ts';
import type { Family, Forwarding, Frontend, NodeView } from './model.ts';
import { frontendsOf, type Policy } from './outcomes.ts';
import { healthCheckPortOf, type ServicePort, servicePorts } from './service-ports.ts';
import type { InTurns } from './turns.ts';

/** The cached result for a port, and its inputs. */
interface KeptPort {
  readonly policy: Policy;
  readonly frontends: readonly Frontend[];
  known?: readonly KnownEndpoint[];
  row?: Forwarding;
}

/**
 * The rows of a large Service in one family with their inputs, so that a change costs only what it
 * changes: one changed slice causes no re-read of thousands of source ranges, addresses or other
 * slices. Equal parts stay the same objects.
 */
export class KeptRows {
  readonly #family: Family;
  readonly #view: NodeView;
  readonly #lists: EndpointLists;
  /** Undefined: the Service changed. */
  #ports: readonly ServicePort[] | undefined;
  #allowedSources: readonly string[] | undefined;
  #kept = new Map<ServicePort, KeptPort>();
  #withLosses = new WeakMap<Forwarding, Forwarding>();

  constructor(family: Family, view: NodeView) {
    this.#family = family;
    this.#view = view;
    this.#lists = new EndpointLists(family, view);
  }

  /** Number of cached items. */
  get size(): number {
    return (this.#ports?.length ?? 0) + this.#lists.size;
  }

  serviceChanged(): void {
    this.#ports = undefined;
    this.#kept.clear();
  }

  /** A Service that claims the same address was added, changed or removed. */
  lossesChanged(): void {
    this.#withLosses = new WeakMap();
  }

  /** If the Service changes meanwhile, the rows are those that it had before. */
  *compile(service: ServiceObject, slices: readonly SliceObject[]): InTurns<readonly Forwarding[]> {
    this.#ports ??= this.#read(service);
    const ports = this.#ports;
    const ids = ports.map(({ id }) => id);
    yield* this.#lists.update(ids, slices);
    const healthCheckPort = healthCheckPortOf(service, this.#view);
    const rows: Forwarding[] = [];
    for (const port of ports) {
      const row = this.#row(port, healthCheckPort);
      rows.push(row);
      yield row.frontends.length + this.#lists.of(port.id).length;
    }
    return rows;
  }

  /** The row with unserved frontends marked. */
  withLosses(row: Forwarding, mark: (row: Forwarding) => Forwarding): Forwarding {
    const known = this.#withLosses.get(row);
    if (known !== undefined) return known;
    const marked = mark(row);
    this.#withLosses.set(row, marked);
    return marked;
  }

  #read(service: ServiceObject): readonly ServicePort[] {
    const ports = servicePorts(service, this.#family, this.#view);
    const before = this.#allowedSources;
    const allowedSources = ports[0]?.allowedSources;
    this.#allowedSources = allowedSources;
    if (!before || !allowedSources || !equalTexts(before, allowedSources)) return ports;
    this.#allowedSources = before;
    return ports.map((port) => ({ ...port, allowedSources: before }));
  }

  #row(port: ServicePort, healthCheckPort: number): Forwarding {
    const view = this.#view;
    const known = this.#lists.of(port.id);
    const kept = this.#kept.get(port);
    if (kept?.row && kept.known === known) return kept.row;
    const row = forwardingOf(port, {
      known,
      view,
      healthCheckPort,
      frontendsOf: (_, policy) => this.#frontends(port, policy),
    });
    Object.assign(this.#kept.get(port) ?? {}, { known, row });
    return row;
  }

  #frontends(port: ServicePort, policy: Policy): readonly Frontend[] {
    const kept = this.#kept.get(port);
    if (kept && isSame(kept.policy, policy)) return kept.frontends;
    const frontends = frontendsOf(port, policy);
    this.#kept.set(port, { policy, frontends });
    return frontends;
  }
}

function isSame(a: Policy, b: Policy): boolean {
  return equalOutcomes(a.internal, b.internal) && equalOutcomes(a.external, b.external);
}
