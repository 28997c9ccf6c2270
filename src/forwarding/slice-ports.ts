import type { SliceObject } from '../cluster/objects.ts';
import type { Family, ServicePortId } from './model.ts';

/** A slice with a port, and its number there. */
export interface PortOfSlice {
  readonly slice: SliceObject;
  readonly port: number;
}

type PortName = Pick<ServicePortId, 'port' | 'protocol' | 'family'>;

/** Slices with a port, by scanning all: fastest for one port. */
export function portsOfSlices(slices: Iterable<SliceObject>, id: PortName): PortOfSlice[] {
  const found: PortOfSlice[] = [];
  for (const slice of slices) {
    if (slice.addressType !== id.family) continue;
    for (const { name, protocol, port } of slice.ports) {
      if (name === id.port && protocol === id.protocol && port) found.push({ slice, port });
    }
  }
  return found;
}

/** Slices of a family by port name, for many ports. */
export type SlicePortIndex = ReadonlyMap<string, readonly PortOfSlice[]>;

export function indexSlicePorts(slices: Iterable<SliceObject>, family: Family): SlicePortIndex {
  const index = new Map<string, PortOfSlice[]>();
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    for (const { name, protocol, port } of slice.ports) {
      if (!port) continue;
      const key = portName(name, protocol);
      const all = index.get(key);
      if (all === undefined) index.set(key, [{ slice, port }]);
      else all.push({ slice, port });
    }
  }
  return index;
}

/** Unique among the ports of one Service and family. */
export function portName(name: string, protocol: string): string {
  return `${protocol} ${name}`;
}
