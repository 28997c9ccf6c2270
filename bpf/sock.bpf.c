/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * socket-ebpf: a program that connects or sends to a Service address does so to an endpoint instead.
 * No packet is rewritten. What a socket hook cannot do (masquerade, know its source before routing,
 * reject as a packet filter does) is left to the rules behind.
 */
#include <linux/in.h>

#include "kernel.h"
#include "pick.h"

char fairlead_license[] SEC("license") = "Dual MIT/GPL";

#define REMEMBERED 4

/* Everything of a socket is kept in the socket: it goes with it, and nothing is ever forgotten. */
struct sent_peers {
	__u32 next;
	__u32 zero;
	struct peer peers[REMEMBERED];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct peer);
} connected SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sent_peers);
} sent SEC(".maps");

static __always_inline void read_key(struct bpf_sock_addr *ctx, int ipv4, struct frontend_key *key)
{
	__builtin_memset(key, 0, sizeof(*key));
	key->port = ctx->user_port;
	key->protocol = ctx->protocol;
	if (ipv4) {
		set_ipv4(&key->address, ctx->user_ip4);
		return;
	}
	key->address.words[0] = ctx->user_ip6[0];
	key->address.words[1] = ctx->user_ip6[1];
	key->address.words[2] = ctx->user_ip6[2];
	key->address.words[3] = ctx->user_ip6[3];
}

static __always_inline void write_address(struct bpf_sock_addr *ctx, int ipv4,
					  const struct address *a, __u32 port)
{
	ctx->user_port = port;
	if (ipv4) {
		ctx->user_ip4 = a->words[3];
		return;
	}
	ctx->user_ip6[0] = a->words[0];
	ctx->user_ip6[1] = a->words[1];
	ctx->user_ip6[2] = a->words[2];
	ctx->user_ip6[3] = a->words[3];
}

/*
 * The node's own sockets leave with an address of the node anyway; a pod's would need masquerading.
 */
static __always_inline int is_for_sockets(__u64 outcome, __u32 class)
{
	__u32 left = OUTCOME_REJECT | OUTCOME_DROP | OUTCOME_RANGES | OUTCOME_PASS;

	if (class != CLASS_HOST) left |= OUTCOME_MASQUERADE;
	return !(OUTCOME_FLAGS(outcome) & left) && OUTCOME_COUNT(outcome) > 0;
}

static __always_inline int decide_for_socket(struct bpf_sock_addr *ctx,
					     const struct frontend_key *key, struct decision *d,
					     struct affinity_key *who)
{
	__u32 zero = 0, class;
	__u64 cookie;
	struct settings *s = bpf_map_lookup_elem(&settings, &zero);

	if (!s || (key->protocol != IPPROTO_TCP && key->protocol != IPPROTO_UDP)) return 0;
	cookie = bpf_get_netns_cookie(ctx);
	class = cookie == s->host_cookie ? CLASS_HOST : CLASS_POD;
	if (class == CLASS_POD && s->flags & SETTING_ONLY_HOST_SOCKETS) return 0;
	if (!decide(key, s, class, d) || !is_for_sockets(d->outcome, class)) return 0;
	__builtin_memset(who, 0, sizeof(*who));
	who->client.words[0] = cookie;
	who->client.words[1] = cookie >> 32;
	who->client.words[2] = ~0u;
	who->client.words[3] = ~0u;
	return 1;
}

static __always_inline void remember(struct peer *p, const struct frontend_key *key,
				     const struct chosen *c)
{
	p->virtual_address = key->address;
	p->virtual_port = key->port;
	p->address = c->address;
	p->port = c->port;
	p->index = c->index;
}

static __always_inline int connect_to(struct bpf_sock_addr *ctx, int ipv4)
{
	struct frontend_key key;
	struct decision d = {};
	struct affinity_key who = {};
	struct chosen c = {};
	struct peer *p;
	struct bpf_sock *sk = ctx->sk;

	read_key(ctx, ipv4, &key);
	if (!sk) return 1;
	if (!decide_for_socket(ctx, &key, &d, &who) || !choose(&d, &who, &c)) {
		/* A UDP socket may be connected again, to something else. */
		if (key.protocol == IPPROTO_UDP) bpf_sk_storage_delete(&connected, sk);
		return 1;
	}
	p = bpf_sk_storage_get(&connected, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	/* Without it the socket's peer would have another address than the program gave. */
	if (!p) return 1;
	note(&d, &who, &c);
	remember(p, &key, &c);
	write_address(ctx, ipv4, &c.address, c.port);
	return 1;
}

/* Index of the stored peer with this virtual address; REMEMBERED if none. */
static __always_inline __u32 find_sent(const struct sent_peers *known,
				       const struct frontend_key *key)
{
	for (__u32 n = 0; n < REMEMBERED; n++) {
		const struct peer *p = &known->peers[n];

		if (p->virtual_port == key->port && same_address(&p->virtual_address, &key->address))
			return n;
	}
	return REMEMBERED;
}

/* Datagrams to one Service go to one endpoint, for as long as it is one. */
static __always_inline int stays(struct peer *p, const struct decision *d, struct chosen *c)
{
	struct search s = {
		.address = p->address,
		.port = p->port,
		.first = OUTCOME_FIRST(d->outcome),
		.count = OUTCOME_COUNT(d->outcome),
		.index = p->index,
	};

	if (!is_member(&s)) return 0;
	choose_found(&s, c);
	p->index = s.index;
	return 1;
}

static __always_inline int send_to(struct bpf_sock_addr *ctx, int ipv4)
{
	struct frontend_key key;
	struct decision d = {};
	struct affinity_key who = {};
	struct chosen c = {};
	struct sent_peers *known;
	struct bpf_sock *sk = ctx->sk;
	__u32 at;

	read_key(ctx, ipv4, &key);
	if (!sk || !decide_for_socket(ctx, &key, &d, &who)) return 1;
	known = bpf_sk_storage_get(&sent, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!known) return 1;
	at = find_sent(known, &key);
	if (at < REMEMBERED && stays(&known->peers[at], &d, &c)) {
		write_address(ctx, ipv4, &c.address, c.port);
		return 1;
	}
	if (!choose(&d, &who, &c)) return 1;
	if (at >= REMEMBERED) {
		at = known->next % REMEMBERED;
		known->next = at + 1;
	}
	note(&d, &who, &c);
	remember(&known->peers[at], &key, &c);
	write_address(ctx, ipv4, &c.address, c.port);
	return 1;
}

static __always_inline int is_peer(const struct peer *p, const struct frontend_key *real)
{
	return p->port == real->port && same_address(&p->address, &real->address);
}

/* A program sees the address that it asked for. */
static __always_inline int show_virtual(struct bpf_sock_addr *ctx, int ipv4)
{
	struct frontend_key real;
	struct bpf_sock *sk = ctx->sk;
	struct peer *p;
	struct sent_peers *known;

	if (!sk) return 1;
	read_key(ctx, ipv4, &real);
	p = bpf_sk_storage_get(&connected, sk, 0, 0);
	if (p && is_peer(p, &real)) {
		write_address(ctx, ipv4, &p->virtual_address, p->virtual_port);
		return 1;
	}
	known = bpf_sk_storage_get(&sent, sk, 0, 0);
	if (!known) return 1;
	for (__u32 n = 0; n < REMEMBERED; n++) {
		p = &known->peers[n];
		if (!is_peer(p, &real)) continue;
		write_address(ctx, ipv4, &p->virtual_address, p->virtual_port);
		break;
	}
	return 1;
}

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	return connect_to(ctx, 1);
}

SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *ctx)
{
	return connect_to(ctx, 0);
}

SEC("cgroup/sendmsg4")
int sendmsg4(struct bpf_sock_addr *ctx)
{
	return send_to(ctx, 1);
}

SEC("cgroup/sendmsg6")
int sendmsg6(struct bpf_sock_addr *ctx)
{
	return send_to(ctx, 0);
}

SEC("cgroup/recvmsg4")
int recvmsg4(struct bpf_sock_addr *ctx)
{
	return show_virtual(ctx, 1);
}

SEC("cgroup/recvmsg6")
int recvmsg6(struct bpf_sock_addr *ctx)
{
	return show_virtual(ctx, 0);
}

SEC("cgroup/getpeername4")
int getpeername4(struct bpf_sock_addr *ctx)
{
	return show_virtual(ctx, 1);
}

SEC("cgroup/getpeername6")
int getpeername6(struct bpf_sock_addr *ctx)
{
	return show_virtual(ctx, 0);
}

/*
 * Connected UDP sockets, of the network namespace in which the iterator was made. One reader lists
 * their peers, one ends those whose peer is in `ended`: which these are is decided elsewhere.
 */
struct ended_key {
	struct address virtual_address;
	struct address address;
	__u16 virtual_port;
	__u16 port;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct ended_key);
	__type(value, __u32);
} ended SEC(".maps");

#define AF_INET 2
#define ESTABLISHED 1

/*
 * What is kept in a socket outlives the connection: connect() may have failed, or the program has
 * disconnected. Only the socket itself knows its peer.
 */
static __always_inline int is_connected_to(struct sock *sk, const struct peer *p)
{
	struct sock_common *common = &sk->__sk_common;
	struct address peer;

	if (common->skc_state != ESTABLISHED || common->skc_dport != p->port) return 0;
	if (common->skc_family == AF_INET) {
		set_ipv4(&peer, common->skc_daddr);
	} else {
		peer.words[0] = common->skc_v6_daddr.in6_u.u6_addr32[0];
		peer.words[1] = common->skc_v6_daddr.in6_u.u6_addr32[1];
		peer.words[2] = common->skc_v6_daddr.in6_u.u6_addr32[2];
		peer.words[3] = common->skc_v6_daddr.in6_u.u6_addr32[3];
	}
	return same_address(&peer, &p->address);
}

/* What a socket asked for and got; none if we did not connect it, or it is connected no more. */
static __always_inline struct peer *connected_peer(struct sock *sk)
{
	struct peer *p = bpf_sk_storage_get(&connected, sk, 0, 0);

	return p && is_connected_to(sk, p) ? p : 0;
}

extern int bpf_sock_destroy(struct sock_common *sk) __ksym;

SEC("iter/udp")
int list_udp(struct bpf_iter__udp *ctx)
{
	struct sock *sk = (struct sock *)ctx->udp_sk;
	struct peer *p, copy;

	if (!sk) return 0;
	p = connected_peer(sk);
	if (!p) return 0;
	copy = *p;
	bpf_seq_write(ctx->meta->seq, &copy, sizeof(copy));
	return 0;
}

SEC("iter/udp")
int end_udp(struct bpf_iter__udp *ctx)
{
	struct sock *sk = (struct sock *)ctx->udp_sk;
	struct ended_key key;
	struct peer *p;

	if (!sk) return 0;
	p = connected_peer(sk);
	if (!p) return 0;
	key.virtual_address = p->virtual_address;
	key.address = p->address;
	key.virtual_port = p->virtual_port;
	key.port = p->port;
	if (!bpf_map_lookup_elem(&ended, &key)) return 0;
	bpf_sock_destroy((struct sock_common *)sk);
	bpf_seq_write(ctx->meta->seq, &key, sizeof(key));
	return 0;
}
