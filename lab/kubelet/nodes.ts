import type { ApiClient } from '../api/client.ts';
import { paths } from '../api/objects.ts';
import { nodeAddress, nodeName, podCidr, zoneOf } from '../network/plan.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Registers a node as a kubelet would: labels, pod networks, addresses, readiness. */
export async function registerNode(api: ApiClient, index: number): Promise<void> {
  const name = nodeName(index);
  const cidr = podCidr(index);
  const address = nodeAddress(index);
  await api.create(paths.nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        [ZONE_LABEL]: zoneOf(index),
      },
    },
    spec: { podCIDR: cidr.ipv4, podCIDRs: [cidr.ipv4, cidr.ipv6] },
  });
  const capacity = { cpu: '4', memory: '8Gi', pods: '1000' };
  const status = {
    addresses: [
      { type: 'InternalIP', address: address.ipv4 },
      { type: 'InternalIP', address: address.ipv6 },
      { type: 'Hostname', address: name },
    ],
    capacity,
    allocatable: capacity,
    conditions: [{ type: 'Ready', status: 'True', reason: 'LabPlaysKubelet', message: '' }],
  };
  await api.patch(`${paths.node(name)}/status`, { status });
}

/** Deletes the zone's label and adds it again: an event for a proxy that missed the first one. */
export async function retellZone(api: ApiClient, index: number): Promise<void> {
  for (const zone of [null, zoneOf(index)]) await tellZone(api, index, zone);
}

/** Gives the Node another zone, or none. */
export async function tellZone(api: ApiClient, index: number, zone: string | null): Promise<void> {
  await api.patch(paths.node(nodeName(index)), { metadata: { labels: { [ZONE_LABEL]: zone } } });
}
