import type { ServedPort } from '../../agent/servers/traffic-pages.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';
import { portNameOf } from '../top/served-owners.ts';
import type { DotNamespace, DotState, Dots } from './protocol/dots-answer.ts';

type Ports = readonly ServedPort[];

/** `namespace/name` of a service port. */
export function serviceOf(key: ServicePortKey): string {
  return withoutPort(portNameOf(key).service);
}

/** `namespace/name` of `namespace/name:port`. */
export function withoutPort(service: string): string {
  return service.replace(/:[^/]*$/, '');
}

/** What is told of a Service that has nothing else to tell. */
export interface DotTraffic {
  /** `namespace/name`. */
  readonly busy: ReadonlySet<string>;
  readonly used: Iterable<string>;
  readonly waiting: ReadonlySet<string>;
}

/** Every Service of the node with its state, and which states changed since the last tick. */
export class DotField {
  #ports = new Map<string, Ports>();
  #names: readonly string[] = [];
  #indices = new Map<string, number>();
  #version = 0;
  #busy: ReadonlySet<string> = new Set();
  #waiting: ReadonlySet<string> = new Set();
  readonly #used = new Set<string>();
  /** As they were told. */
  readonly #told = new Map<string, DotState>();
  /** Services whose state may differ from what was told. */
  readonly #unsure = new Set<string>();

  /** Undefined: not read yet. */
  get version(): number | undefined {
    return this.#version === 0 ? undefined : this.#version;
  }

  get count(): number {
    return this.#names.length;
  }

  has(service: string): boolean {
    return this.#ports.has(service);
  }

  portsOf(service: string): Ports {
    return this.#ports.get(service) ?? [];
  }

  all(): Iterable<readonly [service: string, ports: Ports]> {
    return this.#names.map((name) => [name, this.portsOf(name)] as const);
  }

  indexOf(service: string): number {
    return this.#indices.get(service) ?? -1;
  }

  /** Every service port there is. */
  take(ports: Ports): void {
    const next = Map.groupBy(ports, ([key]) => serviceOf(key));
    const isSame = next.size === this.#ports.size && next.keys().every((each) => this.has(each));
    for (const [name, own] of next) {
      if (verdictOf(own) !== verdictOf(this.portsOf(name))) this.#unsure.add(name);
    }
    this.#ports = next;
    if (!isSame || this.#version === 0) this.#renumber();
  }

  /** The service ports of these Services only; without any the Service is gone. */
  patch(services: Iterable<string>, ports: Ports): void {
    const found = Map.groupBy(ports, ([key]) => serviceOf(key));
    let isSame = true;
    for (const name of services) {
      const own = found.get(name);
      isSame &&= (own !== undefined) === this.has(name);
      if (own === undefined) this.#ports.delete(name);
      else this.#ports.set(name, own);
      this.#unsure.add(name);
    }
    if (!isSame) this.#renumber();
  }

  observe({ busy, used, waiting }: DotTraffic): void {
    for (const set of [this.#busy, busy, this.#waiting, waiting]) {
      for (const name of set) this.#unsure.add(name);
    }
    for (const name of [...busy, ...used]) {
      if (this.#used.has(name)) continue;
      this.#used.add(name);
      this.#unsure.add(name);
    }
    this.#busy = busy;
    this.#waiting = waiting;
  }

  /** States that are other than told, at most so many; the others come with the next call. */
  changes(most: number): readonly (readonly [index: number, state: DotState])[] {
    const changed: (readonly [number, DotState])[] = [];
    for (const name of this.#unsure) {
      if (changed.length === most) break;
      this.#unsure.delete(name);
      const [index, state] = [this.#indices.get(name), this.stateOf(name)];
      if (index === undefined || (this.#told.get(name) ?? 'q') === state) continue;
      this.#told.set(name, state);
      changed.push([index, state]);
    }
    return changed;
  }

  /** The worst comes first. */
  stateOf(name: string): DotState {
    const verdict = verdictOf(this.portsOf(name));
    if (verdict !== undefined) return verdict === 'reject' ? 'n' : 'l';
    if (this.#waiting.has(name)) return 'w';
    if (this.#busy.has(name)) return 'b';
    return this.#used.has(name) ? 'u' : 'q';
  }

  dots(): Dots {
    const spaces = Map.groupBy(this.#names, (name) => name.slice(0, name.indexOf('/')));
    const namespaces: DotNamespace[] = [...spaces].map(([name, services]) => ({
      name,
      services: services.map((each) => each.slice(name.length + 1)),
      states: services.map((each) => this.stateOf(each)).join(''),
    }));
    return { version: this.#version, count: this.#names.length, namespaces };
  }

  #renumber(): void {
    this.#version += 1;
    this.#names = [...this.#ports.keys()].sort();
    this.#indices = new Map(this.#names.map((name, index) => [name, index]));
    this.#told.clear();
    for (const name of this.#names) {
      const state = this.stateOf(name);
      if (state !== 'q') this.#told.set(name, state);
    }
    // The page fetches all of them.
    this.#unsure.clear();
  }
}

function verdictOf(ports: Ports): ServedPort[2] {
  let found: ServedPort[2];
  for (const [, , verdict] of ports) {
    if (verdict === 'reject') return verdict;
    found ??= verdict;
  }
  return found;
}
