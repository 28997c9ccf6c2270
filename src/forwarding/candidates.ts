import type { ServiceObject, SliceObject } from '../cluster/objects.ts';
import { type KnownEndpoint, knownEndpoints } from './endpoints.ts';
import type { EndpointList, NodeView, ServicePortId } from './model.ts';
import { isLastResort, select, type Topology } from './selection.ts';
import { servicePorts, usesClusterEndpoints, usesLocalEndpoints } from './service-ports.ts';

/** A candidate endpoint, and its verdict in each list. */
export interface Candidate {
  readonly address: string;
  readonly port: number;
  readonly nodeName: string;
  readonly local: boolean;
  readonly state: 'ready' | 'terminating' | 'not ready' | 'gone';
  readonly verdicts: Readonly<Record<EndpointList, Verdict>>;
  /** Topology hints, obeyed or not; undefined: none. */
  readonly zoneHints?: readonly string[];
  readonly nodeHints?: readonly string[];
}

export type Verdict =
  | 'selected'
  /** No frontend of this port uses the list. */
  | 'list not used'
  | 'not ready'
  | 'terminating, and others are ready'
  | 'terminating and no longer serving'
  | 'on another node'
  /** It has no Node object, so that no endpoint is local. */
  | 'this machine is not a node'
  | 'hinted for another node'
  | 'hinted for another zone';

/** All endpoints of a port, with the reason why each is used or not. */
export function candidatesOf(asked: {
  service: ServiceObject;
  slices: readonly SliceObject[];
  id: ServicePortId;
  view: NodeView;
}): Candidate[] {
  const { service, slices, id, view } = asked;
  const port = servicePorts(service, id.family, view).find(
    (candidate) => candidate.id.port === id.port && candidate.id.protocol === id.protocol,
  );
  if (!port) return [];
  const need = { cluster: usesClusterEndpoints(port), local: usesLocalEndpoints(port) };
  const known = knownEndpoints(id, slices, view);
  const selection = select(known, need, view);
  const chosen = {
    ...selection,
    cluster: new Set(selection.cluster),
    local: new Set(selection.local),
  };
  return known.map((candidate) => ({
    ...candidate.endpoint,
    nodeName: candidate.nodeName,
    state: stateOf(candidate),
    verdicts: {
      cluster: need.cluster ? clusterVerdict(candidate, chosen) : 'list not used',
      local: need.local ? localVerdict(candidate, chosen, view) : 'list not used',
    },
    ...(candidate.zoneHints.length === 0 ? {} : { zoneHints: candidate.zoneHints }),
    ...(candidate.nodeHints.length === 0 ? {} : { nodeHints: candidate.nodeHints }),
  }));
}

interface Chosen {
  readonly cluster: ReadonlySet<KnownEndpoint>;
  readonly local: ReadonlySet<KnownEndpoint>;
  readonly topology: Topology;
}

function clusterVerdict(endpoint: KnownEndpoint, chosen: Chosen): Verdict {
  if (chosen.cluster.has(endpoint)) return 'selected';
  if (!endpoint.ready) return whyNotReady(endpoint);
  // Ready but not selected: topology hints are the only possible reason.
  return chosen.topology === 'same-node' ? 'hinted for another node' : 'hinted for another zone';
}

function localVerdict(endpoint: KnownEndpoint, chosen: Chosen, view: NodeView): Verdict {
  if (chosen.local.has(endpoint)) return 'selected';
  if (view.isNode === false) return 'this machine is not a node';
  if (!endpoint.endpoint.local) return 'on another node';
  return whyNotReady(endpoint);
}

function whyNotReady(endpoint: KnownEndpoint): Verdict {
  if (isLastResort(endpoint)) return 'terminating, and others are ready';
  return endpoint.terminating ? 'terminating and no longer serving' : 'not ready';
}

function stateOf(endpoint: KnownEndpoint): Candidate['state'] {
  if (endpoint.ready) return 'ready';
  if (!endpoint.terminating) return 'not ready';
  return endpoint.serving ? 'terminating' : 'gone';
}
