import { writeFileSync } from 'node:fs';
import { type OwnPlace, ownPlace } from '../../../linux/bpf/testing/own-place.ts';
import { enterOwnNetwork, ip, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { type Host, startHost } from '../../../linux/testing/hosts/host.ts';
import type { NodeFacts } from '../../contract.ts';

/** A host and where it is reached. */
export interface PlacedHost extends Host {
  readonly ipv4: string;
  readonly ipv6: string;
  /** The name of the node's interface that leads to it. */
  readonly device: string;
}

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
    startHost('outside').then((host) => join(host, { device: 'eth0', ...OUTSIDE })),
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

interface Joint {
  /** The first three numbers of the IPv4 network. */
  readonly ipv4: string;
  /** The begin of the IPv6 network. */
  readonly ipv6: string;
  /** The last number of the host. */
  readonly last: number;
}

const OUTSIDE: Joint = { ipv4: '192.0.2', ipv6: 'fd77:', last: 9 };

/** A pod of a network of its own, by the node's interface `pod-NUMBER`. */
export function joinPod(host: Host, number: number): PlacedHost {
  const of = { ipv4: `10.244.${number}`, ipv6: `fd44:${number}:`, last: 10 };
  return join(host, { device: `pod-${number}`, ...of });
}

function join(host: Host, { device, ipv4, ipv6, last }: Joint & { device: string }): PlacedHost {
  const at = { ipv4: `${ipv4}.${last}`, ipv6: `${ipv6}:${last}` };
  ip(
    `link add name ${device} type veth peer name eth0 netns ${host.pid}`,
    `addr add ${ipv4}.1/24 dev ${device}`,
    `addr add ${ipv6}:1/64 dev ${device} nodad`,
    `link set ${device} up`,
  );
  host.ip(
    `addr add ${at.ipv4}/24 dev eth0`,
    `addr add ${at.ipv6}/64 dev eth0 nodad`,
    'link set eth0 up',
    `route add default via ${ipv4}.1`,
    `route add ::/0 via ${ipv6}:1`,
  );
  return { ...host, ...at, device };
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
