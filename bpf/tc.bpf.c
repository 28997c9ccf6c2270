/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tc-ebpf: the first packet of a connection to a Service address, where it comes into the node. The
 * program chooses an endpoint and creates the conntrack entry with its translation; the kernel does
 * the rest: translating this packet and those after it, replies, port clashes, ICMP errors,
 * fragments. So there is no flow table here that could differ from the kernel's.
 *
 * A packet that it does not serve passes unchanged to the rules behind.
 */
#include "kernel.h"
#include "packet.h"

char fairlead_license[] SEC("license") = "Dual MIT/GPL";

/* TCX_NEXT: continue with the next program. These are missing in the headers of older systems. */
#define TCX_NEXT -1
#define FIB_LOOKUP_SOURCE (1U << 4)
#define FIB_LOOKUP_SKIP_NEIGHBOUR (1U << 2)
#define AF_INET 2
#define AF_INET6 10

/* Until the packet has come as far as connection tracking, which gives it the time of its kind. */
#define FIRST_TIMEOUT_MS 10000

enum tracked_tcp_state { TRACKED_TIME_WAIT = 7, TRACKED_CLOSE = 8 };

extern struct nf_conn *bpf_skb_ct_lookup(struct __sk_buff *, struct bpf_sock_tuple *, __u32,
					 struct bpf_ct_opts *, __u32) __ksym;
extern struct nf_conn___init *bpf_skb_ct_alloc(struct __sk_buff *, struct bpf_sock_tuple *, __u32,
					       struct bpf_ct_opts *, __u32) __ksym;
extern struct nf_conn *bpf_ct_insert_entry(struct nf_conn___init *) __ksym;
extern void bpf_ct_release(struct nf_conn *) __ksym;
extern void bpf_ct_set_timeout(struct nf_conn___init *, __u32) __ksym;
extern int bpf_ct_change_timeout(struct nf_conn *, __u32) __ksym;
extern int bpf_ct_set_nat_info(struct nf_conn___init *, union nf_inet_addr *, int,
			       enum nf_nat_manip_type) __ksym;

static __always_inline int is_in(const struct network *n, const struct address *a)
{
	return (a->words[0] & n->mask.words[0]) == n->address.words[0] &&
	       (a->words[1] & n->mask.words[1]) == n->address.words[1] &&
	       (a->words[2] & n->mask.words[2]) == n->address.words[2] &&
	       (a->words[3] & n->mask.words[3]) == n->address.words[3];
}

static __always_inline __u32 class_of(struct __sk_buff *skb, const struct packet *p,
				      const struct settings *s)
{
	__u32 ifindex = skb->ifindex, *flags;
	__u32 flag = p->ipv4 ? INTERFACE_PODS_IPV4 : INTERFACE_PODS_IPV6;

	if (is_in(&s->pods[p->ipv4 ? NETWORK_IPV4 : NETWORK_IPV6], &p->source)) return CLASS_POD;
	flags = bpf_map_lookup_elem(&interfaces, &ifindex);
	return flags && *flags & flag ? CLASS_POD : CLASS_OUTSIDE;
}

/*
 * An entry created here is final: foreign rules that masquerade what pods send out of their network
 * do not see the packet any more. Where they might apply, packets must reach them: also from sources
 * not known to be pods, because pods cannot always be distinguished from others.
 */
static __always_inline int is_for_packets(__u64 outcome)
{
	__u32 flags = OUTCOME_FLAGS(outcome);

	if (flags & (OUTCOME_REJECT | OUTCOME_DROP | OUTCOME_RANGES | OUTCOME_PASS)) return 0;
	if ((flags & (OUTCOME_BEYOND | OUTCOME_MASQUERADE)) == OUTCOME_BEYOND) return 0;
	return OUTCOME_COUNT(outcome) > 0;
}

/* Gives its length, by which the kernel knows the family. */
static __always_inline __u32 write_tuple(const struct packet *p, struct bpf_sock_tuple *t)
{
	__builtin_memset(t, 0, sizeof(*t));
	if (p->ipv4) {
		t->ipv4.saddr = p->source.words[3];
		t->ipv4.daddr = p->destination.words[3];
		t->ipv4.sport = p->source_port;
		t->ipv4.dport = p->destination_port;
		return sizeof(t->ipv4);
	}
	__builtin_memcpy(t->ipv6.saddr, &p->source, sizeof(t->ipv6.saddr));
	__builtin_memcpy(t->ipv6.daddr, &p->destination, sizeof(t->ipv6.daddr));
	t->ipv6.sport = p->source_port;
	t->ipv6.dport = p->destination_port;
	return sizeof(t->ipv6);
}

static __always_inline void write_address(const struct packet *p, const struct address *a,
					  union nf_inet_addr *to)
{
	__builtin_memset(to, 0, sizeof(*to));
	if (p->ipv4) to->ip = a->words[3];
	else __builtin_memcpy(to, a, sizeof(*to));
}

/*
 * In some states the kernel would reuse the entry of a closed connection, with its old endpoint.
 * It is made to expire, and the next lookup removes it.
 */
static __always_inline int is_closed(struct nf_conn *known, const struct packet *p)
{
	__u8 state;

	if (p->protocol != IPPROTO_TCP) return 0;
	state = known->proto.tcp.state;
	return state == TRACKED_TIME_WAIT || state == TRACKED_CLOSE;
}

static __always_inline int is_tracked(struct __sk_buff *skb, const struct packet *p,
				      struct bpf_sock_tuple *tuple, __u32 length)
{
	struct bpf_ct_opts options = { .netns_id = -1, .l4proto = p->protocol };
	struct nf_conn *known = bpf_skb_ct_lookup(skb, tuple, length, &options, sizeof(options));
	int closed;

	if (!known) return 0;
	closed = is_closed(known, p);
	if (closed) bpf_ct_change_timeout(known, 0);
	bpf_ct_release(known);
	if (!closed) return 1;
	known = bpf_skb_ct_lookup(skb, tuple, length, &options, sizeof(options));
	if (!known) return 0;
	bpf_ct_release(known);
	return 1;
}

/*
 * The address with which the node would send to this endpoint. 1: it is in `to`. An endpoint that is
 * the node itself is delivered here, where nothing is masqueraded.
 */
static __always_inline int source_for(struct __sk_buff *skb, const struct packet *p,
				      const struct chosen *c, union nf_inet_addr *to)
{
	struct bpf_fib_lookup route = {
		.ifindex = skb->ifindex,
		.l4_protocol = p->protocol,
		.sport = p->source_port,
		.dport = c->port,
	};
	long result;

	if (p->ipv4) {
		route.family = AF_INET;
		route.ipv4_src = p->source.words[3];
		route.ipv4_dst = c->address.words[3];
	} else {
		route.family = AF_INET6;
		__builtin_memcpy(route.ipv6_src, &p->source, sizeof(route.ipv6_src));
		__builtin_memcpy(route.ipv6_dst, &c->address, sizeof(route.ipv6_dst));
	}
	result = bpf_fib_lookup(skb, &route, sizeof(route),
				FIB_LOOKUP_SKIP_NEIGHBOUR | FIB_LOOKUP_SOURCE);
	/* That is also the answer where there is no route at all. */
	if (result == BPF_FIB_LKUP_RET_NOT_FWDED && address_flags(&c->address)) {
		write_address(p, &p->source, to);
		return 1;
	}
	if (result != BPF_FIB_LKUP_RET_SUCCESS) return 0;
	__builtin_memset(to, 0, sizeof(*to));
	if (p->ipv4) to->ip = route.ipv4_src;
	else __builtin_memcpy(to, route.ipv6_src, sizeof(*to));
	return 1;
}

/*
 * The source is always set, to the client's own where nothing is masqueraded: only then does the
 * kernel see that the same client port already leads to this endpoint by another Service address,
 * and takes another one.
 */
static __always_inline int track(struct __sk_buff *skb, const struct packet *p,
				 const struct chosen *c, union nf_inet_addr *from)
{
	struct bpf_ct_opts options = { .netns_id = -1, .l4proto = p->protocol };
	struct bpf_sock_tuple tuple;
	__u32 length = write_tuple(p, &tuple);
	union nf_inet_addr to;
	struct nf_conn___init *fresh;
	struct nf_conn *made;
	int refused;

	fresh = bpf_skb_ct_alloc(skb, &tuple, length, &options, sizeof(options));
	if (!fresh) return 0;
	bpf_ct_set_timeout(fresh, FIRST_TIMEOUT_MS);
	write_address(p, &c->address, &to);
	refused = bpf_ct_set_nat_info(fresh, &to, bpf_ntohs(c->port), NF_NAT_MANIP_DST);
	refused |= bpf_ct_set_nat_info(fresh, from, 0, NF_NAT_MANIP_SRC);
	/* It fails where another processor was quicker: then that entry holds for this packet too. */
	made = bpf_ct_insert_entry(fresh);
	if (!made) return 0;
	/* There is no way to give up an entry but to make it and let it expire. */
	if (refused) bpf_ct_change_timeout(made, 0);
	bpf_ct_release(made);
	return !refused;
}

static __always_inline void serve(struct __sk_buff *skb, const struct packet *p)
{
	struct frontend_key key = {
		.address = p->destination,
		.port = p->destination_port,
		.protocol = p->protocol,
	};
	struct affinity_key who = { .client = p->source };
	struct decision d = {};
	struct chosen c = {};
	struct bpf_sock_tuple tuple;
	union nf_inet_addr from;
	__u32 zero = 0, class, length;
	struct settings *s = bpf_map_lookup_elem(&settings, &zero);

	if (!s) return;
	class = class_of(skb, p, s);
	if (!decide(&key, s, class, &d) || !is_for_packets(d.outcome)) return;
	length = write_tuple(p, &tuple);
	if (is_tracked(skb, p, &tuple, length) || !choose(&d, &who, &c)) return;
	if (OUTCOME_FLAGS(d.outcome) & OUTCOME_MASQUERADE || same_address(&c.address, &p->source)) {
		if (!source_for(skb, p, &c, &from)) return;
	} else {
		write_address(p, &p->source, &from);
	}
	if (track(skb, p, &c, &from)) note(&d, &who, &c);
}

SEC("tcx/ingress")
int ingress(struct __sk_buff *skb)
{
	struct packet p = {};

	/* It comes again, without its tag, at the device of its VLAN. */
	if (skb->vlan_present) return TCX_NEXT;
	if (read_packet(skb, &p) && is_first(&p)) serve(skb, &p);
	return TCX_NEXT;
}
