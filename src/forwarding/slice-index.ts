import type { SliceObject } from '../cluster/objects.ts';

/** Slices by the Service they belong to, also after their label has been changed. */
export class SliceIndex {
  /** Sorted by name: which of two equal endpoints counts must not depend on who came first. */
  readonly #byService = new Map<string, readonly SliceObject[]>();
  readonly #serviceOf = new Map<string, string>();

  /** Gives the Services whose endpoints may have changed: two, when a slice changes hands. */
  put(slice: SliceObject): Set<string> {
    const key = keyOf(slice);
    const before = this.delete(key);
    const affected = new Set<string>(before ? [before.service] : []);
    if (slice.service === '' || slice.headless) return affected;
    const service = `${slice.namespace}/${slice.service}`;
    const slices = [...this.of(service), slice].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#byService.set(service, slices);
    this.#serviceOf.set(key, service);
    return affected.add(service);
  }

  delete(key: string): { service: string; slice: SliceObject } | undefined {
    const service = this.#serviceOf.get(key);
    if (service === undefined) return undefined;
    const slices = this.of(service);
    const slice = slices.find((candidate) => keyOf(candidate) === key);
    if (slice === undefined) return undefined;
    const left = slices.filter((candidate) => candidate !== slice);
    if (left.length === 0) this.#byService.delete(service);
    else this.#byService.set(service, left);
    this.#serviceOf.delete(key);
    return { service, slice };
  }

  of(service: string): readonly SliceObject[] {
    return this.#byService.get(service) ?? NONE;
  }

  /** Services with an endpoint that hints at zones or nodes. */
  hintedServices(): string[] {
    const hinted = ([, slices]: [string, readonly SliceObject[]]): boolean =>
      slices.some((slice) => slice.endpoints.some((e) => e.zoneHints ?? e.nodeHints));
    return [...this.#byService].filter(hinted).map(([service]) => service);
  }
}

const NONE: readonly SliceObject[] = [];

function keyOf(slice: SliceObject): string {
  return `${slice.namespace}/${slice.name}`;
}
