import { writeFileSync } from 'node:fs';
import type { NodeFacts } from '../../../../../dataplanes/contract.ts';
import type { Protocol } from '../../../../../forwarding/model.ts';
import { enterOwnNetwork, ip, run } from '../../../../../linux/netlink/testing/own-namespace.ts';
import { type Host, SERVED_PORT, startHost } from '../../../../../linux/testing/hosts/host.ts';
import type { Transport } from '../../../../../linux/testing/hosts/host-messages.ts';
import {
  joinOutside,
  joinPod,
  type PlacedHost,
} from '../../../../../linux/testing/hosts/placed-host.ts';
import type { Captures } from '../captures.ts';
import type { CapturedFrontend } from '../frontend.ts';
import { FACTS, newCaptures, nft } from './capture-kernel.ts';

export const VERSIONS = ['ipv4', 'ipv6'] as const;
export type Version = (typeof VERSIONS)[number];
export const TRANSPORTS: readonly Transport[] = ['TCP', 'UDP'];
/** The node's address on its default route, which Services are on. */
export const UPLINK = { ipv4: '198.51.100.1', ipv6: '2001:db8:9::1' } as const;
export const NODE = { ipv4: '192.0.2.1', ipv6: 'fd77::1' } as const;

export const SITE_FACTS: NodeFacts = {
  ...FACTS,
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'cidr', cidr: 'fd44::/16' },
  },
};

/**
 * A node with pods and a client outside. IPVS serves Services with the endpoint `ipvs`; a few rules
 * of nft stand for the plane behind, and lead to the endpoint `behind`.
 */
export interface Site {
  readonly captures: Captures;
  readonly pod: PlacedHost;
  readonly ipvs: PlacedHost;
  readonly behind: PlacedHost;
  readonly outside: PlacedHost;
  readonly node: Host;
}

/** The Service of a test: an address in each family, new for each number. */
export function virtualAddress(number: number): Readonly<Record<Version, string>> {
  return { ipv4: `10.96.0.${number}`, ipv6: `fd96::${number}` };
}

export async function enterSite(): Promise<Site> {
  const [node, outside, pod, ipvs, behind] = await Promise.all([
    startHost('node', { here: true }),
    startHost('outside').then(joinOutside),
    startHost('pod').then((host) => joinPod(host, 1)),
    startHost('ipvs').then((host) => joinPod(host, 2)),
    startHost('behind').then((host) => joinPod(host, 3)),
  ]);
  // Without a route nothing is sent. Not back to a client, which would get an ICMP redirect, and not
  // from an address of the range of pods, by which they are told from this node.
  ip(
    'link add name uplink type veth peer name nobody',
    `addr add ${UPLINK.ipv4}/24 dev uplink`,
    `addr add ${UPLINK.ipv6}/64 dev uplink nodad`,
    'link set nobody up',
    'link set uplink up',
    'route add default via 198.51.100.254',
    'route add ::/0 via 2001:db8:9::fe',
  );
  return { captures: newCaptures(), node, outside, pod, ipvs, behind };
}

/** Before `enterSite`: hosts are started from the namespace of the test. */
export function enterNode(): void {
  enterOwnNetwork();
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  // Else the kernel sends some ICMP errors and not others.
  writeFileSync('/proc/sys/net/ipv4/icmp_ratelimit', '0');
  writeFileSync('/proc/sys/net/ipv6/icmp/ratelimit', '0');
}

/** They appear with the first use of IPVS in a network namespace. */
export function setIpvsSysctls(): void {
  const values = { conntrack: 1, expire_nodest_conn: 1, conn_reuse_mode: 1 };
  for (const [name, value] of Object.entries(values)) {
    writeFileSync(`/proc/sys/net/ipv4/vs/${name}`, String(value));
  }
}

export function leaveSite(site: Site): void {
  for (const host of [site.node, site.outside, site.pod, site.ipvs, site.behind]) host.close();
}

/** What stands for the plane behind: translates to `behind`, and honours the masquerade mark. */
export function addBehind({ behind }: Site): void {
  const table = (family: 'ip' | 'ip6', services: string, to: string): string => `
    add table ${family} behind
    delete table ${family} behind
    table ${family} behind {
      chain translate { meta l4proto { tcp, udp } ${family} daddr ${services} dnat to ${to}; }
      chain prerouting { type nat hook prerouting priority -100; th dport 80 goto translate; }
      chain output { type nat hook output priority -100; th dport 80 goto translate; }
      chain postrouting { type nat hook postrouting priority 100;
        meta mark & 0x4000 != 0 meta mark set meta mark ^ 0x4000 masquerade fully-random
        ct status dnat fib saddr type local masquerade fully-random
      }
    }`;
  nft(table('ip', '10.96.0.0/16', `${behind.ipv4}:${SERVED_PORT}`));
  nft(table('ip6', 'fd96::/112', `[${behind.ipv6}]:${SERVED_PORT}`));
}

/** A virtual server at port 80 with one destination, for both transports and families. */
export function serve(number: number, to: Readonly<Record<Version, string>>): void {
  for (const version of VERSIONS) {
    const address = bracketed(virtualAddress(number)[version]);
    for (const flag of ['-t', '-u']) {
      const server = [flag, `${address}:80`];
      run(['ipvsadm', '-A', ...server, '-s', 'rr']);
      run(['ipvsadm', '-a', ...server, '-r', `${bracketed(to[version])}:${SERVED_PORT}`, '-m']);
    }
  }
}

/** The destinations of `serve` get weight 0. */
export function drain(number: number, to: Readonly<Record<Version, string>>): void {
  for (const version of VERSIONS) {
    const address = bracketed(virtualAddress(number)[version]);
    const destination = `${bracketed(to[version])}:${SERVED_PORT}`;
    for (const flag of ['-t', '-u']) {
      run(['ipvsadm', '-e', flag, `${address}:80`, '-r', destination, '-m', '-w', '0']);
    }
  }
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

export function frontendsOf(
  number: number,
  capture: CapturedFrontend['capture'],
): readonly CapturedFrontend[] {
  return VERSIONS.flatMap((version) =>
    TRANSPORTS.map((protocol: Protocol) => ({
      family: version === 'ipv4' ? ('IPv4' as const) : ('IPv6' as const),
      protocol,
      address: virtualAddress(number)[version],
      port: 80,
      capture,
    })),
  );
}
