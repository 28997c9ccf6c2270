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

  /** The rows of a Service are others than before. Lists that are equal are the same ones (share.ts). */
  replace(service: string, before: readonly Forwarding[], after: readonly Forwarding[]): void {
    let isSame = before.length === after.length;
    for (let index = 0; index < before.length || index < after.length; index++) {
      const [old, now] = [before[index], after[index]];
      this.#endpoints += endpointsIn(now) - endpointsIn(old);
      if (old?.frontends === now?.frontends) continue;
      this.#frontends += servedIn(now) - servedIn(old);
      isSame = false;
    }
    this.#services += Number(after.length > 0) - Number(before.length > 0);
    this.#noteFault(service, after[0]?.schedulerFault);
    if (!isSame) this.#frontendsVersion++;
  }

  /** Rows that are not compiled yet may have others: whoever asks meanwhile must ask again. */
  expectOtherFrontends(): void {
    this.#frontendsVersion++;
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

  /**
   * Another one whenever a row comes or goes, or has other frontends or outcomes, also when that is
   * only to be compiled. Endpoints alone do not count, but for the first and the last.
   */
  get frontendsVersion(): number {
    return this.#frontendsVersion;
  }

  #noteFault(service: string, fault: string | undefined): void {
    if (fault !== undefined) {
      this.#faults.set(service, fault);
      this.#faulty.add(service);
    } else if (this.#faults.delete(service)) this.#faulty.delete(service);
  }
}

function endpointsIn(row: Forwarding | undefined): number {
  return row?.clusterEndpoints.length ?? 0;
}

function servedIn(row: Forwarding | undefined): number {
  let count = 0;
  for (const { notServed } of row?.frontends ?? []) if (notServed === undefined) count++;
  return count;
}
