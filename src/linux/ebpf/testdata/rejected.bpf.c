// Programs that cannot be loaded; for tests of what a person is told.
#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

extern struct nf_conn *bpf_skb_ct_lookup(struct __sk_buff *, struct bpf_sock_tuple *, __u32,
					 struct bpf_ct_opts *, __u32) __ksym;
extern void bpf_ct_release(struct nf_conn *) __ksym;
extern void fairlead_no_such_function(void) __ksym;

struct nf_conn___wrong {
	int no_such_field;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} numbers SEC(".maps");

// Reads a field that no kernel has, without asking.
SEC("tc")
int lacking(struct __sk_buff *skb)
{
	struct bpf_ct_opts options = { .netns_id = -1, .l4proto = IPPROTO_UDP };
	struct bpf_sock_tuple tuple = {};
	struct nf_conn *known =
		bpf_skb_ct_lookup(skb, &tuple, sizeof(tuple.ipv4), &options, sizeof(options));

	if (!known)
		return TC_ACT_OK;
	skb->mark = ((struct nf_conn___wrong *)known)->no_such_field;
	bpf_ct_release(known);
	return TC_ACT_OK;
}

SEC("tc")
int calling(struct __sk_buff *skb)
{
	fairlead_no_such_function();
	return TC_ACT_OK;
}

// Uses what it found without looking whether it found it.
SEC("tc")
int unsafe(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u32 *number = bpf_map_lookup_elem(&numbers, &zero);

	return *number;
}
