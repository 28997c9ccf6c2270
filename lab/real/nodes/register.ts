import type { ApiClient } from '../../api/client.ts';
import { type KubeObject, paths } from '../../api/objects.ts';
import { until } from '../../host/until.ts';
import { nodeName, podCidr } from '../../network/plan.ts';
import { realZoneOf } from '../plan.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const READY_DEADLINE_MS = 120_000;

interface Node extends KubeObject {
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}

/** Creates the Node object with what its kubelet does not set: the zone and the pod ranges. */
export async function registerRealNode(api: ApiClient, index: number): Promise<void> {
  const cidr = podCidr(index);
  await api.create(paths.nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName(index), labels: { [ZONE_LABEL]: realZoneOf(index) } },
    spec: { podCIDR: cidr.ipv4, podCIDRs: [cidr.ipv4, cidr.ipv6] },
  });
}

export async function untilNodesReady(
  api: ApiClient,
  nodeCount: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  await until(
    async () => {
      const { items } = await api.list<Node>(paths.nodes);
      return items.filter(isReady).length === nodeCount;
    },
    { what: `${nodeCount} nodes to be ready`, deadlineMs: READY_DEADLINE_MS, signal },
  );
}

/** Deletes the zone's label and adds it again: an event for a proxy that missed the first one. */
export async function retellRealZone(api: ApiClient, index: number): Promise<void> {
  for (const zone of [null, realZoneOf(index)]) {
    await api.patch(paths.node(nodeName(index)), { metadata: { labels: { [ZONE_LABEL]: zone } } });
  }
}

function isReady(node: Node): boolean {
  return (node.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
}
