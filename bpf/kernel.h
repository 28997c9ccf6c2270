// Types of the kernel itself, with only the fields that the programs use. The loader looks up where
// each field is in the kernel that runs, so neither order nor size here means anything.
#ifndef FAIRLEAD_KERNEL_H
#define FAIRLEAD_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__u32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__u16 skc_family;
	volatile unsigned char skc_state;
	__u16 skc_num;
	__u16 skc_dport;
	__u32 skc_daddr;
	struct in6_addr skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct udp_sock;
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__udp {
	struct bpf_iter_meta *meta;
	struct udp_sock *udp_sk;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

struct ip_ct_tcp {
	__u8 state;
};

union nf_conntrack_proto {
	struct ip_ct_tcp tcp;
};

struct nf_conn {
	unsigned long status;
	__u32 timeout;
	union nf_conntrack_proto proto;
};

#pragma clang attribute pop

// An nf_conn that is not yet in the table.
struct nf_conn___init {
	struct nf_conn ct;
};

// Passed to the kernel's functions as they are, so these must be laid out as the kernel has them.

union nf_inet_addr {
	__u32 all[4];
	__be32 ip;
	__be32 ip6[4];
};

struct bpf_ct_opts {
	__s32 netns_id;
	__s32 error;
	__u8 l4proto;
	__u8 dir;
	__u8 reserved[2];
};

enum nf_nat_manip_type {
	NF_NAT_MANIP_SRC,
	NF_NAT_MANIP_DST,
};

#endif
