/** Numbers of linux/netfilter/nfnetlink_conntrack.h and nf_conntrack_common.h that we use. */

export const NETLINK_NETFILTER = 12;

/** Multicast group of new flows. */
export const NFNLGRP_CONNTRACK_NEW = 1;

const SUBSYSTEM_CONNTRACK = 1;
export const MESSAGE_NEW = SUBSYSTEM_CONNTRACK << 8;
export const MESSAGE_GET = (SUBSYSTEM_CONNTRACK << 8) | 1;
export const MESSAGE_DELETE = (SUBSYSTEM_CONNTRACK << 8) | 2;
/** Their number, with other counts of the network namespace. */
export const MESSAGE_GET_COUNT = (SUBSYSTEM_CONNTRACK << 8) | 5;

export const NLM_F_REQUEST = 1;
export const NLM_F_ACK = 4;
export const NLM_F_DUMP = 0x300;

export const AF_INET = 2;
export const AF_INET6 = 10;

export const PROTOCOL_TCP = 6;
export const PROTOCOL_UDP = 17;
export const PROTOCOL_SCTP = 132;

export const CTA_TUPLE_ORIG = 1;
export const CTA_TUPLE_REPLY = 2;
export const CTA_STATUS = 3;
export const CTA_PROTOINFO = 4;
export const CTA_TIMEOUT = 7;
export const CTA_MARK = 8;
export const CTA_ID = 12;
export const CTA_ZONE = 18;
/** Only where net.netfilter.nf_conntrack_timestamp was 1 when the flow began. */
export const CTA_TIMESTAMP = 20;
export const CTA_MARK_MASK = 21;
/** Since Linux 5.8; older kernels ignore it and list every flow of the family. */
export const CTA_FILTER = 25;

export const CTA_TUPLE_IP = 1;
export const CTA_TUPLE_PROTO = 2;
export const CTA_TUPLE_ZONE = 3;

export const CTA_IP_V4_SRC = 1;
export const CTA_IP_V4_DST = 2;
export const CTA_IP_V6_SRC = 3;
export const CTA_IP_V6_DST = 4;

export const CTA_PROTO_NUM = 1;
export const CTA_PROTO_SRC_PORT = 2;
export const CTA_PROTO_DST_PORT = 3;

export const CTA_PROTOINFO_TCP = 1;
export const CTA_PROTOINFO_TCP_STATE = 1;

export const CTA_TIMESTAMP_START = 1;

export const CTA_FILTER_ORIG_FLAGS = 1;
/** Which parts of CTA_TUPLE_ORIG the filter compares; bits of net/netfilter/nf_conntrack.h. */
export const FILTER_IP_DST = 1 << 1;
export const FILTER_PROTO_NUM = 1 << 3;
export const FILTER_PROTO_DST_PORT = 1 << 5;

/** Bits of CTA_STATUS. */
export const STATUS_SEEN_REPLY = 1 << 1;
/** For UDP: packets went both ways more than once. */
export const STATUS_ASSURED = 1 << 2;
export const STATUS_DST_NAT = 1 << 5;

/** States of TCP as conntrack counts them. */
export const TCP_SYN_SENT = 1;
export const TCP_SYN_RECV = 2;
export const TCP_ESTABLISHED = 3;
export const TCP_CLOSE_WAIT = 5;
