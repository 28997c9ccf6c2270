import type { ServiceObject } from '../cluster/objects.ts';
import { equalLists, equalTexts } from './equal.ts';

/**
 * Whether two versions of a Service are equal for a proxy: many updates change only other fields.
 */
export function isSameService(a: ServiceObject, b: ServiceObject): boolean {
  return (
    hasSameClaims(a, b) &&
    a.labels.ebpf === b.labels.ebpf &&
    a.ipvsScheduler === b.ipvsScheduler &&
    a.externalTrafficPolicy === b.externalTrafficPolicy &&
    a.internalTrafficPolicy === b.internalTrafficPolicy &&
    a.affinitySeconds === b.affinitySeconds &&
    a.healthCheckNodePort === b.healthCheckNodePort &&
    equalTexts(a.loadBalancerSourceRanges, b.loadBalancerSourceRanges)
  );
}

/** Whether both claim the same addresses with the same precedence. */
export function hasSameClaims(a: ServiceObject, b: ServiceObject): boolean {
  return (
    a.createdAtSeconds === b.createdAtSeconds &&
    a.labels.proxyName === b.labels.proxyName &&
    a.type === b.type &&
    equalTexts(a.clusterIPs, b.clusterIPs) &&
    equalTexts(a.externalIPs, b.externalIPs) &&
    equalLists(a.loadBalancerIPs, b.loadBalancerIPs, equalFields) &&
    equalLists(a.ports, b.ports, equalFields)
  );
}

/** For flat objects with the same fields. */
function equalFields<T extends object>(a: T, b: T): boolean {
  return Object.entries(a).every(([name, value]) => value === b[name as keyof T]);
}
