import { normalizeIp } from '../addresses/ip.ts';
import type { SliceEndpoint, SliceObject } from '../cluster/objects.ts';
import type { NodeView, ServicePortId } from './model.ts';
import { versionFamily } from './service-ports.ts';

/** An endpoint that a service port might use: all that selection looks at. */
export interface KnownEndpoint {
  readonly address: string;
  readonly port: number;
  readonly local: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly nodeName: string;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * The endpoints of a service port out of its Service's slices, each `address:port` once, sorted.
 * Where several slices have the same one, an endpoint that is not terminating stands for all: a
 * pod that just got the address of one that is going away.
 */
export function knownEndpoints(
  id: ServicePortId,
  slices: Iterable<SliceObject>,
  view: NodeView,
): KnownEndpoint[] {
  const found: Keyed[] = [];
  for (const slice of slices) {
    if (slice.addressType !== id.family) continue;
    for (const { name, protocol, port } of slice.ports) {
      if (name !== id.port || protocol !== id.protocol || !port) continue;
      for (const endpoint of slice.endpoints) {
        const known = knownEndpoint({ endpoint, port, id, view });
        if (known !== undefined) found.push({ key: endpointKey(known), known });
      }
    }
  }
  return withoutTwins(found);
}

interface Keyed {
  readonly key: string;
  readonly known: KnownEndpoint;
}

/** Sorts; the sort leaves twins in the order in which they came. */
function withoutTwins(found: Keyed[]): KnownEndpoint[] {
  found.sort((a, b) => (a.key < b.key ? -1 : a.key === b.key ? 0 : 1));
  const once: KnownEndpoint[] = [];
  found.forEach(({ key, known }, index) => {
    if (key !== found[index - 1]?.key) once.push(known);
    else if (!known.terminating) once[once.length - 1] = known;
  });
  return once;
}

function knownEndpoint(of: {
  endpoint: SliceEndpoint;
  port: number;
  id: ServicePortId;
  view: NodeView;
}): KnownEndpoint | undefined {
  const { endpoint, port, id, view } = of;
  const ip = normalizeIp(endpoint.address);
  if (ip === undefined || versionFamily(ip.version) !== id.family) return undefined;
  return {
    address: ip.address,
    port,
    local: endpoint.nodeName !== undefined && endpoint.nodeName === view.nodeName,
    ready: endpoint.ready,
    serving: endpoint.serving,
    terminating: endpoint.terminating,
    nodeName: endpoint.nodeName ?? '',
    zoneHints: endpoint.zoneHints ?? NONE,
    nodeHints: endpoint.nodeHints ?? NONE,
  };
}

/** `address:port`, IPv6 in brackets: what kube-proxy sorts by. */
export function endpointKey(endpoint: { address: string; port: number }): string {
  const { address, port } = endpoint;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
