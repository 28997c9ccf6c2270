import { contains, parseCidrs } from '../../../addresses/cidr.ts';
import { parseIp } from '../../../addresses/ip.ts';
import type { NodeFacts } from '../../../dataplanes/contract.ts';

/**
 * Service addresses that the machine has itself: NodeLocal DNSCache listens on the ClusterIP of DNS. IPVS
 * takes every packet to a virtual server that is delivered on the machine, captured or not, so there
 * must be none.
 */
export function ownServiceAddresses({
  ownAddresses = [],
  serviceRanges,
}: NodeFacts): ReadonlySet<string> {
  const ranges = parseCidrs(serviceRanges);
  const isOfServices = (text: string): boolean => {
    const ip = parseIp(text);
    return ip !== undefined && ranges.some((range) => contains(range, ip));
  };
  return new Set(ownAddresses.filter(isOfServices));
}

/**
 * The same without those on kube-proxy's device, which has the addresses of all Services: `readOwn` gives
 * the others. It is asked now, because the facts have addresses of the device still when it is deleted.
 */
export async function ownNow(
  facts: NodeFacts,
  readOwn: (() => Promise<ReadonlySet<string>>) | undefined,
): Promise<ReadonlySet<string>> {
  const own = ownServiceAddresses(facts);
  return own.size === 0 || readOwn === undefined ? own : own.intersection(await readOwn());
}
