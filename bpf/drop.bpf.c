/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * explain: packets of one connection that the kernel drops, with the reason. It runs on the tracepoint
 * kfree_skb, which packets that are delivered or sent do not reach, and only while a descriptor of the
 * attachment is open.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char fairlead_license[] SEC("license") = "Dual MIT/GPL";

#define MOST_DROPS 256
#define DEVICE_NAME_BYTES 16
#define FRAGMENT_OFFSET 0x1fff
#define AF_INET 2
/* The lower bits are the state of the connection. */
#define CONNTRACK_POINTER (~7UL)

/* IPv4 is written ::ffff:a.b.c.d. */
struct address {
	__u32 words[4];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	char name[DEVICE_NAME_BYTES];
	int ifindex;
	possible_net_t nd_net;
};

struct sock_common {
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned char *head;
	__u16 network_header;
	__u16 protocol;
	unsigned long _nfct;
};

union nf_conntrack_man_proto {
	__u16 all;
};

struct nf_conntrack_man {
	struct address u3;
	union nf_conntrack_man_proto u;
	__u16 l3num;
};

struct nf_conntrack_other {
	struct address u3;
	union nf_conntrack_man_proto u;
	__u8 protonum;
};

struct nf_conntrack_tuple {
	struct nf_conntrack_man src;
	struct nf_conntrack_other dst;
};

struct nf_conntrack_tuple_hash {
	struct nf_conntrack_tuple tuple;
};

struct nf_conn {
	struct nf_conntrack_tuple_hash tuplehash[2];
};

#pragma clang attribute pop

/* Both ports in network order, as they are in packets. */
struct tuple {
	struct address source;
	struct address destination;
	__u16 source_port;
	__u16 destination_port;
	__u8 protocol;
	/* 0: the packet has no conntrack entry. */
	__u8 known;
	__u16 zero;
};

struct drop {
	__u64 location;
	__u32 reason;
	__u32 network_namespace;
	__u32 ifindex;
	char device[DEVICE_NAME_BYTES];
	__u32 zero;
	struct tuple packet;
	struct tuple original;
};

/* One side of the connection. An address of zeros: the port at any address. */
struct end {
	struct address address;
	__u16 port;
	__u8 protocol;
	__u8 zero;
};

/* The tracepoint has had a reason since Linux 5.17; without one the verifier rejects its use. */
const volatile __u8 has_reason = 1;
/* 0: drops of all network namespaces. */
const volatile __u8 some_namespaces = 0;

/* Drops that had no room: nobody has read the earlier ones. */
__u64 lost = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, struct end);
	__type(value, __u8);
} ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u8);
} namespaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, MOST_DROPS);
	__uint(value_size, sizeof(struct drop));
} drops SEC(".maps");

struct ipv4_header {
	__u8 version_and_words;
	__u8 service;
	__u16 length;
	__u16 id;
	__u16 fragment;
	__u8 ttl;
	__u8 protocol;
	__u16 checksum;
	__u32 source;
	__u32 destination;
};

struct ipv6_header {
	__u32 version_class_flow;
	__u16 payload_length;
	__u8 next;
	__u8 hop_limit;
	struct address source;
	struct address destination;
};

static __always_inline void set_ipv4(struct address *a, __u32 ipv4)
{
	a->words[0] = 0;
	a->words[1] = 0;
	a->words[2] = bpf_htonl(0xffff);
	a->words[3] = ipv4;
}

static __always_inline int has_ports(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP;
}

static __always_inline void read_ports(struct tuple *t, const void *at)
{
	__u16 ports[2];

	if (!has_ports(t->protocol) || bpf_probe_read_kernel(ports, sizeof(ports), at)) return;
	t->source_port = ports[0];
	t->destination_port = ports[1];
}

/* From the bytes of the packet. Ports stay zero where they are not in this fragment. */
static __always_inline void read_packet(struct sk_buff *skb, struct tuple *t)
{
	unsigned char *at = BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, network_header);
	__u16 protocol = BPF_CORE_READ(skb, protocol);
	struct ipv4_header ipv4;
	struct ipv6_header ipv6;

	if (protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_probe_read_kernel(&ipv4, sizeof(ipv4), at)) return;
		set_ipv4(&t->source, ipv4.source);
		set_ipv4(&t->destination, ipv4.destination);
		t->protocol = ipv4.protocol;
		t->known = 1;
		if (ipv4.fragment & bpf_htons(FRAGMENT_OFFSET)) return;
		read_ports(t, at + (ipv4.version_and_words & 15) * 4);
	} else if (protocol == bpf_htons(ETH_P_IPV6)) {
		if (bpf_probe_read_kernel(&ipv6, sizeof(ipv6), at)) return;
		t->source = ipv6.source;
		t->destination = ipv6.destination;
		t->protocol = ipv6.next;
		t->known = 1;
		read_ports(t, at + sizeof(ipv6));
	}
}

/* What conntrack has for the first packet: the same whatever was translated since. */
static __always_inline void read_original(struct sk_buff *skb, struct tuple *t)
{
	struct nf_conn *entry;

	if (!bpf_core_field_exists(skb->_nfct) || !bpf_core_type_exists(struct nf_conn)) return;
	entry = (struct nf_conn *)(BPF_CORE_READ(skb, _nfct) & CONNTRACK_POINTER);
	if (!entry) return;
	t->protocol = BPF_CORE_READ(entry, tuplehash[0].tuple.dst.protonum);
	BPF_CORE_READ_INTO(&t->source, entry, tuplehash[0].tuple.src.u3);
	BPF_CORE_READ_INTO(&t->destination, entry, tuplehash[0].tuple.dst.u3);
	if (BPF_CORE_READ(entry, tuplehash[0].tuple.src.l3num) == AF_INET) {
		set_ipv4(&t->source, t->source.words[0]);
		set_ipv4(&t->destination, t->destination.words[0]);
	}
	if (has_ports(t->protocol)) {
		BPF_CORE_READ_INTO(&t->source_port, entry, tuplehash[0].tuple.src.u.all);
		BPF_CORE_READ_INTO(&t->destination_port, entry, tuplehash[0].tuple.dst.u.all);
	}
	t->known = 1;
}

static __always_inline int is_end(const struct address *address, __u16 port, __u8 protocol)
{
	struct end e = { .address = *address, .port = port, .protocol = protocol };

	if (!port) return 0;
	if (bpf_map_lookup_elem(&ends, &e)) return 1;
	__builtin_memset(&e.address, 0, sizeof(e.address));
	return bpf_map_lookup_elem(&ends, &e) != 0;
}

static __always_inline int is_wanted(const struct tuple *t)
{
	if (!t->known) return 0;
	return is_end(&t->source, t->source_port, t->protocol) ||
	       is_end(&t->destination, t->destination_port, t->protocol);
}

static __always_inline void read_place(struct sk_buff *skb, struct drop *d)
{
	struct net_device *device = BPF_CORE_READ(skb, dev);
	struct sock *socket = BPF_CORE_READ(skb, sk);

	if (device) {
		d->ifindex = BPF_CORE_READ(device, ifindex);
		d->network_namespace = BPF_CORE_READ(device, nd_net.net, ns.inum);
		BPF_CORE_READ_STR_INTO(&d->device, device, name);
	} else if (socket) {
		d->network_namespace = BPF_CORE_READ(socket, __sk_common.skc_net.net, ns.inum);
	}
}

SEC("tp_btf/kfree_skb")
int fairlead_drops(__u64 *arguments)
{
	struct sk_buff *skb = (struct sk_buff *)arguments[0];
	struct drop d = { .location = arguments[1] };

	if (has_reason) d.reason = (__u32)arguments[2];
	read_packet(skb, &d.packet);
	read_original(skb, &d.original);
	if (!is_wanted(&d.packet) && !is_wanted(&d.original)) return 0;
	read_place(skb, &d);
	if (some_namespaces && !bpf_map_lookup_elem(&namespaces, &d.network_namespace)) return 0;
	if (bpf_map_push_elem(&drops, &d, 0)) __sync_fetch_and_add(&lost, 1);
	return 0;
}
