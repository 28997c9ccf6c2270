import type { ClusterState } from './states.ts';

/**
 * Bugs for the oracle to find. Each is planted by showing our side a cluster in which the thing
 * that the bug would overlook is not there: a selection that forgets hints, and one that never
 * sees any, choose the same.
 */
export interface PlantedBug {
  readonly name: string;
  readonly blind: (state: ClusterState) => ClusterState;
}

type Conditions = { ready?: boolean; serving?: boolean; terminating?: boolean };
type Hints = { forZones?: unknown; forNodes?: unknown };
type SliceEndpoint = { conditions: Conditions; hints: Hints; nodeName?: string };

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'zone hints are forgotten',
    blind: onEndpoints((e) => ({ ...e, hints: { forNodes: e.hints.forNodes } })),
  },
  {
    name: 'node hints are forgotten',
    blind: onEndpoints((e) => ({ ...e, hints: { forZones: e.hints.forZones } })),
  },
  {
    name: 'terminating endpoints that still serve are no last resort',
    blind: onEndpoints((e) =>
      e.conditions.terminating ? { ...e, conditions: { ...e.conditions, serving: false } } : e,
    ),
  },
  {
    name: 'an endpoint that says nothing of its readiness counts as not ready',
    blind: onEndpoints((e) => ({
      ...e,
      conditions: { ...e.conditions, ready: e.conditions.ready ?? false },
    })),
  },
  {
    name: 'an endpoint without a node counts as local',
    blind: onEndpoints((e) => ({ ...e, nodeName: e.nodeName ?? 'here' })),
  },
  {
    name: 'the external policy is taken for Cluster',
    blind: (state) => ({
      ...state,
      services: state.services.map((service) => {
        const { spec } = service as { spec: object };
        return { ...service, spec: { ...spec, externalTrafficPolicy: 'Cluster' } };
      }),
    }),
  },
  {
    name: 'of two equal endpoints the one that goes away may win',
    blind: onEndpoints((e) => ({ ...e, conditions: { ...e.conditions, terminating: false } })),
  },
  {
    name: 'pods of the node are not told from others',
    blind: (state) => ({ ...state, detectsPods: false }),
  },
  {
    name: 'the setting to masquerade everything is forgotten',
    blind: (state) => ({ ...state, masqueradeAll: false }),
  },
];

function onEndpoints(
  change: (endpoint: SliceEndpoint) => object,
): (state: ClusterState) => ClusterState {
  return (state) => ({
    ...state,
    slices: state.slices.map((slice) => {
      const { endpoints } = slice as { endpoints: readonly SliceEndpoint[] };
      return { ...slice, endpoints: endpoints.map(change) };
    }),
  });
}
