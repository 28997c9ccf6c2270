import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { SourceClass } from '../../forwarding/model.ts';

export type ClassOf = (client: string) => SourceClass | undefined;

/**
 * The source class of a client, as far as its address tells. Where pods are known by their interface,
 * conntrack does not have what it takes: then only the node itself is certain.
 */
export function classByAddress(
  { podDetection }: Pick<NodeFacts, 'podDetection'>,
  ownAddresses: ReadonlySet<string>,
): ClassOf {
  return (client) => {
    if (ownAddresses.has(client)) return 'host';
    const by = podDetection[client.includes(':') ? 'IPv6' : 'IPv4'];
    if (by?.by !== 'cidr') return undefined;
    const [range, address] = [parseCidr(by.cidr), parseIp(client)];
    if (!range || !address) return undefined;
    return contains(range, address) ? 'pod' : 'outside';
  };
}
