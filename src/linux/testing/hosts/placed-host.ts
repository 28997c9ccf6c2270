import { ip } from '../../netlink/testing/own-namespace.ts';
import type { Host } from './host.ts';

/** A host and where it is reached. */
export interface PlacedHost extends Host {
  readonly ipv4: string;
  readonly ipv6: string;
  /** The name of the node's interface that leads to it. */
  readonly device: string;
}

interface Joint {
  /** The first three numbers of the IPv4 network. */
  readonly ipv4: string;
  /** The begin of the IPv6 network. */
  readonly ipv6: string;
  /** The last number of the host. */
  readonly last: number;
}

/** A pod of a network of its own, by the node's interface `pod-NUMBER`. */
export function joinPod(host: Host, number: number): PlacedHost {
  const of = { ipv4: `10.244.${number}`, ipv6: `fd44:${number}:`, last: 10 };
  return join(host, { device: `pod-${number}`, ...of });
}

/** A machine of the network that the node has its own address in, by the node's interface `eth0`. */
export function joinOutside(host: Host): PlacedHost {
  return join(host, { device: 'eth0', ipv4: '192.0.2', ipv6: 'fd77:', last: 9 });
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
