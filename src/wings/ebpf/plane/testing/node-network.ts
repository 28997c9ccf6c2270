import { writeFileSync } from 'node:fs';
import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import { type OwnPlace, ownPlace } from '../../../../linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork, ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import { startHost } from '../../../../linux/testing/hosts/host.ts';
import {
  joinOutside,
  joinPod,
  type PlacedHost,
} from '../../../../linux/testing/hosts/placed-host.ts';

/**
 * The node is the namespace of the test. Pods and one client outside are joined to it, each by a
 * pair of interfaces. The mounts and the control group are its own too.
 */
export interface NodeNetwork extends OwnPlace {
  readonly client: PlacedHost;
  readonly endpoints: readonly PlacedHost[];
  readonly outside: PlacedHost;
}

export const NODE_IPV4 = '192.0.2.1';
export const NODE_IPV6 = 'fd77::1';

export const NODE_FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'cidr', cidr: 'fd44::/16' },
  },
  nodePortAddresses: { IPv4: [NODE_IPV4], IPv6: [NODE_IPV6] },
  serviceRanges: ['10.96.0.0/16', 'fd96::/112'],
  podNetworks: ['10.244.0.0/16', 'fd44::/16'],
  masqueradeMark: 0x4000,
};

export async function nodeNetwork(name: string): Promise<NodeNetwork> {
  const place = ownPlace(name);
  enterOwnNetwork();
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  const names = ['client', 'e1', 'e2', 'e3'];
  const [outside, client, ...endpoints] = await Promise.all([
    startHost('outside').then(joinOutside),
    ...names.map(async (pod, index) => joinPod(await startHost(pod), index + 1)),
  ]);
  const last = endpoints.at(-1);
  if (client === undefined || last === undefined) throw new TypeError('hosts are missing');
  // Without a route nothing is forwarded, and no forwarding rule applies. The route must not lead
  // back to the client, or the client would get an ICMP redirect.
  ip(`route add default via ${last.ipv4}`, `route add ::/0 via ${last.ipv6}`);
  const leave = (): void => {
    for (const host of [outside, client, ...endpoints]) host.close();
    place.leave();
  };
  return { ...place, leave, client, endpoints, outside };
}

/** The largest packet on the way between the node and this host. */
export function setMtu(host: PlacedHost, bytes: number): void {
  ip(`link set ${host.device} mtu ${bytes}`);
  host.ip(`link set eth0 mtu ${bytes}`);
}

/** Enables NAT in the kernel, without a rule that translates anything. */
export function addNatChains(): void {
  const table = (family: string): string => `table ${family} bed {
    chain in { type nat hook prerouting priority -100; ct state new counter; }
    chain out { type nat hook postrouting priority 100; }
  }`;
  run(['nft', '-f', '-'], `${table('ip')}\n${table('ip6')}`);
}
