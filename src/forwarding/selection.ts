import type { KnownEndpoint } from './endpoints.ts';
import type { NodeView } from './model.ts';

/** The lists that a service port needs. */
export interface Need {
  readonly cluster: boolean;
  readonly local: boolean;
}

export interface Selection {
  readonly cluster: readonly KnownEndpoint[];
  readonly local: readonly KnownEndpoint[];
  /** Whether any endpoint could serve: decides between reject and drop. */
  readonly anywhere: boolean;
  readonly topology: Topology;
}

/** How topology hints narrow the cluster list. */
export type Topology = 'none' | 'same-node' | 'same-zone';

/**
 * Chooses endpoints as Kubernetes specifies: ready ones; if there are none, those that are
 * terminating and still serving. Topology narrows ready ones only, and never the local list.
 */
export function select(endpoints: readonly KnownEndpoint[], need: Need, view: NodeView): Selection {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  const topology = need.cluster ? topologyOf(ready, view) : 'none';
  const cluster = need.cluster ? clusterList(endpoints, ready, hintFilter(topology, view)) : [];
  const local = need.local ? localList(endpoints) : [];
  const anywhere =
    cluster.length > 0 || (need.local && endpoints.some((e) => e.ready || isLastResort(e)));
  return { cluster, local, anywhere, topology };
}

function clusterList(
  endpoints: readonly KnownEndpoint[],
  ready: readonly KnownEndpoint[],
  fits: (endpoint: KnownEndpoint) => boolean,
): readonly KnownEndpoint[] {
  const chosen = ready.filter(fits);
  return chosen.length > 0 ? chosen : endpoints.filter(isLastResort);
}

function localList(endpoints: readonly KnownEndpoint[]): readonly KnownEndpoint[] {
  const here = endpoints.filter(({ endpoint }) => endpoint.local);
  const ready = here.filter((endpoint) => endpoint.ready);
  return ready.length > 0 ? ready : here.filter(isLastResort);
}

/** Terminating but still serving: used if no endpoint is ready. */
export function isLastResort(endpoint: KnownEndpoint): boolean {
  return !endpoint.ready && endpoint.serving && endpoint.terminating;
}

/**
 * A hint counts only if every ready endpoint has one of its kind and one of them names this node
 * or zone: all or nothing, so that half-written hints never pile traffic onto a few.
 */
function topologyOf(ready: readonly KnownEndpoint[], view: NodeView): Topology {
  if (ready.length === 0) return 'none';
  const agree = (hints: (e: KnownEndpoint) => readonly string[], here: string): boolean =>
    ready.every((e) => hints(e).length > 0) && ready.some((e) => hints(e).includes(here));
  const isNode = view.isNode !== false;
  if (isNode && agree((e) => e.nodeHints, view.nodeName)) return 'same-node';
  if (agree((e) => e.zoneHints, view.zone)) return 'same-zone';
  return 'none';
}

function hintFilter(topology: Topology, view: NodeView): (endpoint: KnownEndpoint) => boolean {
  if (topology === 'same-node') return (e) => e.nodeHints.includes(view.nodeName);
  if (topology === 'same-zone') return (e) => e.zoneHints.includes(view.zone);
  return () => true;
}
