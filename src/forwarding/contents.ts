import type { Forwarding } from './model.ts';
import { SortedNames } from './sorted-names.ts';

/** The contents of the rows of a node. */
export interface Contents {
  readonly services: number;
  /** Served addresses and ports; a node port counts as one, on any number of addresses. */
  readonly frontends: number;
  /** Over all service ports: a pod with two ports is two. */
  readonly endpoints: number;
  /** Services whose annotation for IPVS cannot be used. Absent: none. */
  readonly ignoredSchedulers?: IgnoredSchedulers;
}

interface IgnoredSchedulers {
  readonly count: number;
  readonly first: readonly { readonly service: string; readonly fault: string }[];
}

/** Of those that are reported one by one. */
const MOST_NAMED = 10;

/** Counts rows as they change: whoever asks waits for nothing, whatever the number of Services. */
export class ContentCounts {
  #services = 0;
  #frontends = 0;
  #endpoints = 0;
  #frontendsVersion = 0;
  /** Why the scheduler of a Service cannot be used. */
  readonly #faults = new Map<string, string>();
  readonly #faulty = new SortedNames();

  /** The rows of a Service are others than before. */
  replace(service: string, before: readonly Forwarding[], after: readonly Forwarding[]): void {
    this.#add(before, -1);
    this.#add(after, 1);
    this.#noteFault(service, after[0]?.schedulerFault);
    if (!hasSameFrontends(before, after)) this.#frontendsVersion++;
  }

  get counts(): Contents {
    const counts = {
      services: this.#services,
      frontends: this.#frontends,
      endpoints: this.#endpoints,
    };
    if (this.#faults.size === 0) return counts;
    const names = this.#faulty.list(() => this.#faults.keys()).slice(0, MOST_NAMED);
    const first = names.map((service) => ({ service, fault: this.#faults.get(service) ?? '' }));
    return { ...counts, ignoredSchedulers: { count: this.#faults.size, first } };
  }

  /** Another one whenever a row comes or goes, or has other frontends: endpoints alone do not count. */
  get frontendsVersion(): number {
    return this.#frontendsVersion;
  }

  #add(rows: readonly Forwarding[], times: 1 | -1): void {
    if (rows.length > 0) this.#services += times;
    for (const { frontends, clusterEndpoints } of rows) {
      this.#endpoints += times * clusterEndpoints.length;
      for (const { notServed } of frontends) if (notServed === undefined) this.#frontends += times;
    }
  }

  #noteFault(service: string, fault: string | undefined): void {
    if (fault !== undefined) {
      this.#faults.set(service, fault);
      this.#faulty.add(service);
    } else if (this.#faults.delete(service)) this.#faulty.delete(service);
  }
}

/** Lists that are equal are the same ones (share.ts). */
function hasSameFrontends(before: readonly Forwarding[], after: readonly Forwarding[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ frontends }, index) => frontends === after[index]?.frontends)
  );
}
