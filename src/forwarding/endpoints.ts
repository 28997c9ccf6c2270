import { normalizeIp } from '../addresses/ip.ts';
import type { SliceEndpoint, SliceObject } from '../cluster/objects.ts';
import type { Endpoint, NodeView, ServicePortId } from './model.ts';
import { versionFamily } from './service-ports.ts';
import { type PortOfSlice, portsOfSlices } from './slice-ports.ts';

/** An endpoint with the fields that selection reads. */
export interface KnownEndpoint {
  readonly endpoint: Endpoint;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly nodeName: string;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

/** An endpoint of one slice; other slices may have it too. */
export interface Listed {
  /** Sort key. */
  readonly key: string;
  readonly slice: SliceObject;
  readonly known: KnownEndpoint;
}

const NONE: readonly string[] = [];

/**
 * The endpoints of a service port from its slices, each `address:port` once, sorted. If several
 * slices have the same one, a non-terminating endpoint wins: a new pod may have the address of a
 * terminating one.
 */
export function knownEndpoints(
  id: ServicePortId,
  slices: Iterable<SliceObject>,
  view: NodeView,
): KnownEndpoint[] {
  return withoutTwins(listedEndpoints(id, portsOfSlices(slices, id), view));
}

/** Sorted; the stable sort keeps equal endpoints in slice order. */
export function listedEndpoints(
  id: ServicePortId,
  ports: readonly PortOfSlice[],
  view: NodeView,
): Listed[] {
  const found: Listed[] = [];
  for (const { slice, port } of ports) {
    for (const endpoint of slice.endpoints) {
      const known = knownEndpoint({ endpoint, port, id, view });
      if (known !== undefined) found.push({ key: endpointKey(known.endpoint), slice, known });
    }
  }
  return found.sort(compareKeys);
}

export function compareKeys(a: Listed, b: Listed): number {
  return a.key < b.key ? -1 : a.key === b.key ? 0 : 1;
}

/** Requires sorted lists. */
export function withoutTwins(sorted: readonly Listed[]): KnownEndpoint[] {
  const once: KnownEndpoint[] = [];
  let last = '';
  for (const { key, known } of sorted) {
    if (key !== last) once.push(known);
    else if (!known.terminating) once[once.length - 1] = known;
    last = key;
  }
  return once;
}

function knownEndpoint(listed: {
  endpoint: SliceEndpoint;
  port: number;
  id: ServicePortId;
  view: NodeView;
}): KnownEndpoint | undefined {
  const { endpoint, port, id, view } = listed;
  const ip = normalizeIp(endpoint.address);
  if (ip === undefined || versionFamily(ip.version) !== id.family) return undefined;
  const local = isHere(endpoint, view);
  return {
    endpoint: { address: ip.address, port, local },
    ready: endpoint.ready,
    serving: endpoint.serving,
    terminating: endpoint.terminating,
    nodeName: endpoint.nodeName ?? '',
    zoneHints: endpoint.zoneHints ?? NONE,
    nodeHints: endpoint.nodeHints ?? NONE,
  };
}

/** Whether an endpoint is on this node. */
export function isHere({ nodeName }: SliceEndpoint, view: NodeView): boolean {
  return nodeName !== undefined && nodeName === view.nodeName && view.isNode !== false;
}

/** `address:port`, IPv6 in brackets: the sort key of kube-proxy. */
export function endpointKey(endpoint: { address: string; port: number }): string {
  const { address, port } = endpoint;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
