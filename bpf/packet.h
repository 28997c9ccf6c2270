/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The addresses and ports of a packet. */
#ifndef FAIRLEAD_PACKET_H
#define FAIRLEAD_PACKET_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>

#include "pick.h"

#define FRAGMENT_OFFSET 0x1fff
#define TCP_FLAGS_AT 13
#define TCP_SYN 0x02
#define TCP_ACK 0x10

/* Packets with more extension headers do not occur in practice; the rules behind handle them. */
#define MOST_EXTENSIONS 6
#define NEXT_HOP_BY_HOP 0
#define NEXT_ROUTING 43
#define NEXT_FRAGMENT 44
#define NEXT_DESTINATION 60

struct packet {
	struct address source;
	struct address destination;
	__u16 source_port;
	__u16 destination_port;
	__u8 protocol;
	__u8 tcp_flags;
	__u8 ipv4;
	__u8 zero;
};

/* From the network header on: a device may have an Ethernet header, another one, or none. */
static __always_inline int read_at(struct __sk_buff *skb, __u32 offset, void *to, __u32 length)
{
	return bpf_skb_load_bytes_relative(skb, offset, to, length, BPF_HDR_START_NET) == 0;
}

/* Gives where the ports are; 0: there are none, or not in this fragment. */
static __always_inline __u32 read_ipv4(struct __sk_buff *skb, struct packet *p)
{
	struct iphdr ip;

	if (!read_at(skb, 0, &ip, sizeof(ip))) return 0;
	if (ip.frag_off & bpf_htons(FRAGMENT_OFFSET)) return 0;
	p->ipv4 = 1;
	p->protocol = ip.protocol;
	set_ipv4(&p->source, ip.saddr);
	set_ipv4(&p->destination, ip.daddr);
	return ip.ihl * 4;
}

/* As it is sent. The system's header has types that are the kernel's own in kernel.h. */
struct ipv6_header {
	__u32 version_class_flow;
	__u16 payload_length;
	__u8 next;
	__u8 hop_limit;
	struct address source;
	struct address destination;
};

struct extension {
	__u8 next;
	__u8 length; /* in eight bytes, without the first eight */
	__u8 routing_type;
	__u8 segments_left;
};

static __always_inline __u32 read_ipv6(struct __sk_buff *skb, struct packet *p)
{
	struct ipv6_header ip;
	struct extension e;
	__u32 at = sizeof(ip);

	if (!read_at(skb, 0, &ip, sizeof(ip))) return 0;
	p->ipv4 = 0;
	p->source = ip.source;
	p->destination = ip.destination;
	p->protocol = ip.next;
	for (int n = 0; n < MOST_EXTENSIONS; n++) {
		if (p->protocol == IPPROTO_TCP || p->protocol == IPPROTO_UDP) return at;
		if (!read_at(skb, at, &e, sizeof(e))) return 0;
		switch (p->protocol) {
		case NEXT_FRAGMENT:
			/* The last two bytes are the offset and three flags. */
			if (e.routing_type || e.segments_left & 0xf8) return 0;
			at += 8;
			break;
		case NEXT_ROUTING:
			/* Not yet on its way to the last destination. */
			if (e.segments_left) return 0;
			at += (e.length + 1) * 8;
			break;
		case NEXT_HOP_BY_HOP:
		case NEXT_DESTINATION:
			at += (e.length + 1) * 8;
			break;
		default:
			return 0;
		}
		p->protocol = e.next;
	}
	return 0;
}

/* 1: a TCP or UDP packet with its ports. */
static __always_inline int read_packet(struct __sk_buff *skb, struct packet *p)
{
	__u16 ports[2];
	__u32 at = 0;

	if (skb->protocol == bpf_htons(ETH_P_IP)) at = read_ipv4(skb, p);
	else if (skb->protocol == bpf_htons(ETH_P_IPV6)) at = read_ipv6(skb, p);
	if (!at || (p->protocol != IPPROTO_TCP && p->protocol != IPPROTO_UDP)) return 0;
	if (!read_at(skb, at, ports, sizeof(ports))) return 0;
	p->source_port = ports[0];
	p->destination_port = ports[1];
	p->tcp_flags = 0;
	if (p->protocol != IPPROTO_TCP) return 1;
	return read_at(skb, at + TCP_FLAGS_AT, &p->tcp_flags, 1);
}

/* All that needs a decision: connection tracking knows the rest of a connection. */
static __always_inline int is_first(const struct packet *p)
{
	return p->protocol != IPPROTO_TCP || (p->tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
}

#endif
