import type { ServiceObject } from '../cluster/objects.ts';
import {
  ASSIGNED,
  assignedClaims,
  BY_LOAD_BALANCER,
  BY_OWNER,
  type Claimant,
  claimsAt,
  nodePortClaim,
} from './claims.ts';
import type { HostPorts } from './host-ports.ts';
import { FAMILIES, type NodeView } from './model.ts';
import { type ReachablePort, reachablePorts } from './service-ports.ts';

const NONE: readonly string[] = [];

/** All claims of a Service, by rank; without strict rules there is one rank. */
export function claimantsOf(
  service: ServiceObject,
  claimed: { readonly name: string; readonly view: NodeView },
): readonly Claimant[] {
  const { name, view } = claimed;
  const ports = FAMILIES.flatMap((family) => reachablePorts(service, family, view));
  const { createdAtSeconds } = service;
  const claimant = (rank: Claimant['rank'], claims: string[]): Claimant => {
    // A copy has room for its own items only; a list that was filled bit by bit has room to spare.
    return { service: name, createdAtSeconds, rank, claims: claims.slice() };
  };
  const assigned = ports.flatMap(assignedClaims);
  if (!ports.some(hasMoreAddresses)) return [claimant(ASSIGNED, assigned)];
  const balanced = ports.flatMap((port) => claimsAt(port.loadBalancerIPs, port));
  const external = ports.flatMap((port) => claimsAt(port.externalIPs, port));
  if (view.addressRules === 'kube-proxy') {
    return [claimant(ASSIGNED, [...assigned, ...external, ...balanced])];
  }
  // A duplicate address counts once, with the higher rank.
  const seen = new Set(assigned);
  const unseen = (claims: string[]): string[] => claims.filter((claim) => isNewTo(seen, claim));
  return [
    claimant(ASSIGNED, assigned),
    claimant(BY_LOAD_BALANCER, unseen(balanced)),
    claimant(BY_OWNER, unseen(external)),
  ].filter(({ claims }) => claims.length > 0);
}

function hasMoreAddresses({ externalIPs, loadBalancerIPs }: ReachablePort): boolean {
  return externalIPs.length > 0 || loadBalancerIPs.length > 0;
}

/**
 * Claims of node ports that external IPs of a Service would hide: an external IP of this machine
 * shadows the node port of the same number.
 */
export function hiddenNodePorts(
  service: ServiceObject,
  node: { readonly view: NodeView; readonly host: HostPorts },
): readonly string[] {
  const { view, host } = node;
  if (service.externalIPs.length === 0 || view.addressRules !== 'strict') return NONE;
  return FAMILIES.flatMap((family) => {
    const ports = reachablePorts(service, family, view);
    if (!ports[0]?.externalIPs.some((address) => host.has(address))) return NONE;
    return ports.map(({ id, port }) => nodePortClaim(id, port));
  });
}

function isNewTo(seen: Set<string>, claim: string): boolean {
  return seen.size !== seen.add(claim).size;
}
