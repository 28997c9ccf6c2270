import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import type { Family } from './model.ts';

/** The objects behind a row: why it may have no endpoint, as far as a proxy keeps them. */
export interface Backing {
  readonly type: string;
  /** False: whoever made the Service makes its EndpointSlices too. */
  readonly hasSelector: boolean;
  /** Of the family of the row. */
  readonly slices: number;
  readonly endpoints: number;
  /** The ports that the slices have, each once; the first ones. */
  readonly ports: readonly BackingPort[];
}

export interface BackingPort {
  readonly name: string;
  readonly protocol: string;
}

/** A Service has at most a hundred ports; slices can have any others. */
const MOST_PORTS = 20;

export function backingOf(
  { type, selectorHash }: ServiceObject,
  slices: readonly SliceObject[],
  family: Family,
): Backing {
  const ports = new Map<string, BackingPort>();
  const own = slices.filter(({ addressType }) => addressType === family);
  for (const slice of own) {
    if (ports.size >= MOST_PORTS) break;
    for (const { name, protocol } of slice.ports) {
      ports.set(`${name}/${protocol}`, { name, protocol });
    }
  }
  return {
    type,
    hasSelector: selectorHash !== undefined,
    slices: own.length,
    endpoints: own.reduce((sum, { endpoints }) => sum + endpoints.length, 0),
    ports: [...ports.values()].slice(0, MOST_PORTS),
  };
}
