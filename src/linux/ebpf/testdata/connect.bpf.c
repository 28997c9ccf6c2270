// Rejects or redirects IPv4 connects by destination port; for tests of the loader.
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct key {
	__u32 address;
	__u16 port;
	__u16 protocol;
};

struct value {
	__u32 address;
	__u16 port;
	__u16 reject;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 128);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct value);
} redirects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct key);
} original SEC(".maps");

const volatile __u32 answer = 0;
__u32 connects = 0;
__u32 sum = 7;
static __u32 hidden = 0;

// Not inlined, so that the loader must put it behind the program.
static __attribute__((noinline)) int rewrite(struct bpf_sock_addr *ctx, struct value *to)
{
	if (to->reject)
		return 0;
	ctx->user_ip4 = to->address;
	ctx->user_port = to->port;
	return 1;
}

static long add(__u32 index, void *context)
{
	__u32 *total = context;
	*total += index;
	return 0;
}

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	struct key key = {
		.address = ctx->user_ip4,
		.port = ctx->user_port,
		.protocol = ctx->protocol,
	};
	struct value *to = bpf_map_lookup_elem(&redirects, &key);
	__u32 total = answer;

	__sync_fetch_and_add(&connects, 1);
	__sync_fetch_and_add(&hidden, 2);
	bpf_loop(5, add, &total, 0);
	sum += total;
	if (!to)
		return 1;
	if (ctx->sk)
		bpf_sk_storage_get(&original, ctx->sk, &key, BPF_SK_STORAGE_GET_F_CREATE);
	return rewrite(ctx, to);
}

SEC("cgroup/connect4")
int reject_all(struct bpf_sock_addr *ctx)
{
	return 0;
}

SEC("tc")
int count_bytes(struct __sk_buff *skb)
{
	return skb->len;
}
