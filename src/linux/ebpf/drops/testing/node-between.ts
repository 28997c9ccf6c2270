import { statSync } from 'node:fs';
import { run } from '../../../netlink/testing/own-namespace.ts';
import { startHost } from '../../../testing/hosts/host.ts';
import { joinOutside, joinPod, type PlacedHost } from '../../../testing/hosts/placed-host.ts';

/** Service addresses that the node translates to the endpoint. */
export const VIRTUAL = { ipv4: '10.96.0.10', ipv6: 'fd96::10' } as const;
/** Of them, the port that reaches the endpoint, and one where nothing listens. */
export const SERVED = 80;
export const DEAF = 81;
/** Of them, one that is translated to an address that no machine has. */
export const NOBODY = 82;
/** Of them, one that is translated to an address without a route. */
export const NOWHERE = 83;

/** The namespace of the test as a node that forwards and translates between its hosts. */
export interface NodeBetween {
  readonly client: PlacedHost;
  readonly endpoint: PlacedHost;
  readonly outside: PlacedHost;
  /** Inode numbers of the network namespaces. */
  readonly namespaces: {
    readonly node: number;
    readonly client: number;
    readonly endpoint: number;
    readonly all: readonly number[];
  };
}

/** For a test that has entered its own network. */
export async function nodeBetween(): Promise<NodeBetween> {
  const client = joinPod(await startHost('client'), 1);
  const endpoint = joinPod(await startHost('endpoint'), 2);
  const outside = joinOutside(await startHost('outside'));
  sysctl('net.ipv4.ip_forward', 1);
  sysctl('net.ipv6.conf.all.forwarding', 1);
  run(['nft', '-f', '-'], `${translation(endpoint, 'ip')}\n${translation(endpoint, 'ip6')}`);
  const node = inodeOf(process.pid);
  const [ofClient, ofEndpoint] = [inodeOf(client.pid), inodeOf(endpoint.pid)];
  return {
    client,
    endpoint,
    outside,
    namespaces: {
      node,
      client: ofClient,
      endpoint: ofEndpoint,
      all: [node, ofClient, ofEndpoint, inodeOf(outside.pid)],
    },
  };
}

export function sysctl(name: string, value: number | string): void {
  run(['sysctl', '-qw', `${name}=${value}`]);
}

/** The main thread of a test has left the namespace of its process. */
function inodeOf(pid: number): number {
  return statSync(pid === process.pid ? '/proc/thread-self/ns/net' : `/proc/${pid}/ns/net`).ino;
}

function translation(endpoint: PlacedHost, family: 'ip' | 'ip6'): string {
  const isIpv4 = family === 'ip';
  const to = (address: string, port: number): string =>
    isIpv4 ? `${address}:${port}` : `[${address}]:${port}`;
  const target = isIpv4 ? endpoint.ipv4 : endpoint.ipv6;
  const nobody = isIpv4 ? '10.244.2.99' : 'fd44:2::99';
  const nowhere = isIpv4 ? '203.0.113.5' : '2001:db8::5';
  const at = `${family} daddr ${isIpv4 ? VIRTUAL.ipv4 : VIRTUAL.ipv6} meta l4proto { tcp, udp }`;
  return `table ${family} site {
    chain translate {
      type nat hook prerouting priority dstnat;
      ${at} th dport ${SERVED} dnat to ${to(target, 8080)}
      ${at} th dport ${DEAF} dnat to ${to(target, 9999)}
      ${at} th dport ${NOBODY} dnat to ${to(nobody, 8080)}
      ${at} th dport ${NOWHERE} dnat to ${to(nowhere, 8080)}
    }
  }`;
}
