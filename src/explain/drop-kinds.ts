import type { DropCode, DroppedPacket } from './dropped-packet.ts';

/** Reasons that stand for one cause each, by the name in the kernel's enum skb_drop_reason. */
const BY_REASON: Readonly<Record<string, DropCode>> = {
  NETFILTER_DROP: 'DROPPED_BY_RULE',
  IP_RPFILTER: 'DROPPED_REVERSE_PATH',
  // Only where the machine does not forward, in ip_error().
  IP_INADDRERRORS: 'NOT_FORWARDED',
  IP_INNOROUTES: 'NO_ROUTE',
  IP_OUTNOROUTES: 'NO_ROUTE',
  NEIGH_CREATEFAIL: 'NO_NEIGHBOUR',
  NEIGH_DEAD: 'NO_NEIGHBOUR',
  NEIGH_FAILED: 'NO_NEIGHBOUR',
  NEIGH_QUEUEFULL: 'NO_NEIGHBOUR',
  NO_SOCKET: 'ENDPOINT_REFUSES',
  PROTO_MEM: 'ENDPOINT_OVERLOADED',
  SOCKET_BACKLOG: 'ENDPOINT_OVERLOADED',
  SOCKET_RCVBUFF: 'ENDPOINT_OVERLOADED',
  TCP_LISTEN_OVERFLOW: 'ENDPOINT_OVERLOADED',
  PKT_TOO_BIG: 'TOO_BIG',
  BPF_CGROUP_EGRESS: 'DROPPED_BY_PROGRAM',
  SECURITY_HOOK: 'DROPPED_BY_PROGRAM',
  SOCKET_FILTER: 'DROPPED_BY_PROGRAM',
  TC_EGRESS: 'DROPPED_BY_PROGRAM',
  TC_INGRESS: 'DROPPED_BY_PROGRAM',
  XDP: 'DROPPED_BY_PROGRAM',
  XFRM_POLICY: 'DROPPED_BY_PROGRAM',
};

/** Where the kernel names no reason, but its function has only one. */
const BY_FUNCTION: Readonly<Record<string, DropCode>> = {
  ip_error: 'NO_ROUTE',
  ip6_pkt_drop: 'NO_ROUTE',
  ip6_forward: 'NOT_FORWARDED',
  nf_hook_slow: 'DROPPED_BY_RULE',
  neigh_invalidate: 'NO_NEIGHBOUR',
  arp_error_report: 'NO_NEIGHBOUR',
  ndisc_error_report: 'NO_NEIGHBOUR',
  ip_fragment: 'TOO_BIG',
};

/** Where the kernel has no reasons at all; where it has, NO_SOCKET is one, and others are not. */
const BY_SOCKET_FUNCTION: Readonly<Record<string, DropCode>> = {
  tcp_v4_rcv: 'ENDPOINT_REFUSES',
  tcp_v6_rcv: 'ENDPOINT_REFUSES',
  __udp4_lib_rcv: 'ENDPOINT_REFUSES',
  __udp6_lib_rcv: 'ENDPOINT_REFUSES',
};

/** Belong to the life of a healthy connection, or to copies of its packets. */
const HARMLESS: ReadonlySet<string> = new Set([
  'CONSUMED',
  'OTHERHOST',
  'PACKET_SOCK_ERROR',
  'QUEUE_PURGE',
  'SOCKET_CLOSE',
  'TCP_ABORT_ON_DATA',
  'TCP_CLOSE',
  'TCP_OFOMERGE',
  'TCP_OLD_ACK',
  'TCP_OLD_DATA',
  'TCP_OLD_SEQUENCE',
  'TCP_RESET',
  'TCP_TOO_OLD_ACK',
  'TCP_ZEROWINDOW',
  'UNICAST_IN_L2_MULTICAST',
]);

const UNSAID = 'NOT_SPECIFIED';

/** Undefined: the drop says nothing of how the connection fares. */
export function dropKind(drop: Pick<DroppedPacket, 'reason' | 'function'>): DropCode | undefined {
  const { reason, function: by = '' } = drop;
  if (reason !== undefined && HARMLESS.has(reason)) return undefined;
  if (reason !== undefined && reason !== UNSAID) return BY_REASON[reason] ?? 'DROPPED_BY_KERNEL';
  const bySocket = reason === undefined ? BY_SOCKET_FUNCTION[by] : undefined;
  return BY_FUNCTION[by] ?? bySocket ?? 'DROPPED_BY_KERNEL';
}
