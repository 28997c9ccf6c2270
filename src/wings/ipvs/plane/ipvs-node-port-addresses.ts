import { contains, parseCidrs } from '../../../addresses/cidr.ts';
import { type IpAddress, parseIp } from '../../../addresses/ip.ts';
import { isLoopbackAddress } from '../../../addresses/loopback.ts';
import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { Family } from '../../../forwarding/model.ts';

/** The addresses that get a virtual server for each node port, by family. */
export type NodePortAddresses = Readonly<Record<Family, readonly string[]>>;

/**
 * The machine may have Service addresses itself, such as those of a resolver on the node, or all of
 * them on the device of kube-proxy: node ports are not served there.
 */
export function nodePortAddresses(facts: NodeFacts): NodePortAddresses {
  const ranges = parseCidrs(facts.serviceRanges);
  const isServed = (ip: IpAddress): boolean =>
    !isLoopbackAddress(ip) && !ranges.some((range) => contains(range, ip));
  const of = (family: Family): readonly string[] => {
    const chosen = facts.nodePortAddresses[family];
    const all = chosen === 'all' ? (facts.ownAddresses ?? []) : chosen;
    return all.filter((text) => {
      const ip = parseIp(text);
      return ip !== undefined && familyOf(ip) === family && isServed(ip);
    });
  };
  return { IPv4: of('IPv4'), IPv6: of('IPv6') };
}

function familyOf({ version }: IpAddress): Family {
  return version === 4 ? 'IPv4' : 'IPv6';
}
