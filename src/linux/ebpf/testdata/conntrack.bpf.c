// Makes connection tracking entries with the kernel's functions; for tests of the loader.
#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

extern struct nf_conn *bpf_skb_ct_lookup(struct __sk_buff *, struct bpf_sock_tuple *, __u32,
					 struct bpf_ct_opts *, __u32) __ksym;
extern struct nf_conn___init *bpf_skb_ct_alloc(struct __sk_buff *, struct bpf_sock_tuple *, __u32,
					       struct bpf_ct_opts *, __u32) __ksym;
extern struct nf_conn *bpf_ct_insert_entry(struct nf_conn___init *) __ksym;
extern void bpf_ct_release(struct nf_conn *) __ksym;
extern void bpf_ct_set_timeout(struct nf_conn___init *, __u32) __ksym;
extern int bpf_ct_set_nat_info(struct nf_conn___init *, union nf_inet_addr *, int,
			       enum nf_nat_manip_type) __ksym;
extern void fairlead_no_such_function(void) __ksym __weak;

struct nf_conn___wrong {
	int no_such_field;
} __attribute__((preserve_access_index));

struct no_such_struct {
	int field;
} __attribute__((preserve_access_index));

// What the loader found out about the kernel.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 7);
	__type(key, __u32);
	__type(value, __u64);
} facts SEC(".maps");

static __always_inline void tell(__u32 index, __u64 value)
{
	bpf_map_update_elem(&facts, &index, &value, BPF_ANY);
}

SEC("tc")
int learn(struct __sk_buff *skb)
{
	tell(0, bpf_core_field_offset(struct nf_conn, status));
	tell(1, bpf_core_field_exists(struct nf_conn___wrong, no_such_field) ? 1 : 0);
	tell(2, bpf_core_field_size(struct nf_conn, proto));
	tell(3, bpf_core_type_exists(struct no_such_struct) ? 1 : 0);
	tell(4, bpf_core_type_size(struct nf_conn));
	tell(5, bpf_core_enum_value(enum nf_nat_manip_type, NF_NAT_MANIP_DST));
	tell(6, bpf_core_field_offset(struct nf_conn, proto.tcp.state));
	return TC_ACT_OK;
}

SEC("tc")
int do_without(struct __sk_buff *skb)
{
	if (fairlead_no_such_function)
		fairlead_no_such_function();
	return TC_ACT_STOLEN;
}

// The entry's status in `skb->mark`, or 1 if it was made just now.
SEC("tc")
int track(struct __sk_buff *skb)
{
	struct bpf_ct_opts options = { .netns_id = -1, .l4proto = IPPROTO_UDP };
	struct bpf_sock_tuple tuple = {};
	union nf_inet_addr to = { .ip = bpf_htonl(0x0a000002) };
	struct nf_conn___init *fresh;
	struct nf_conn *known;

	tuple.ipv4.saddr = bpf_htonl(0x0a000001);
	tuple.ipv4.daddr = bpf_htonl(0x0a600001);
	tuple.ipv4.sport = bpf_htons(1234);
	tuple.ipv4.dport = bpf_htons(53);
	known = bpf_skb_ct_lookup(skb, &tuple, sizeof(tuple.ipv4), &options, sizeof(options));
	if (known) {
		skb->mark = known->status;
		bpf_ct_release(known);
		return TC_ACT_OK;
	}
	fresh = bpf_skb_ct_alloc(skb, &tuple, sizeof(tuple.ipv4), &options, sizeof(options));
	if (!fresh)
		return TC_ACT_SHOT;
	bpf_ct_set_timeout(fresh, 30000);
	bpf_ct_set_nat_info(fresh, &to, 5353, NF_NAT_MANIP_DST);
	known = bpf_ct_insert_entry(fresh);
	if (!known)
		return TC_ACT_SHOT;
	bpf_ct_release(known);
	skb->mark = 1;
	return TC_ACT_OK;
}
