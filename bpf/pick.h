/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which endpoint a new connection gets: the same choice whether sockets or packets ask. */
#ifndef FAIRLEAD_PICK_H
#define FAIRLEAD_PICK_H

#include "maps.h"

/* The headers of the C library are not those of a program for the kernel. */
#define EEXIST 17
#define NS_PER_SECOND 1000000000ULL
#define IPV4_MAPPED bpf_htonl(0xffff)

static __always_inline int is_ipv4(const struct address *a)
{
	return !a->words[0] && !a->words[1] && a->words[2] == IPV4_MAPPED;
}

static __always_inline void set_ipv4(struct address *a, __u32 ipv4)
{
	a->words[0] = 0;
	a->words[1] = 0;
	a->words[2] = IPV4_MAPPED;
	a->words[3] = ipv4;
}

static __always_inline int same_address(const struct address *a, const struct address *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1] &&
	       a->words[2] == b->words[2] && a->words[3] == b->words[3];
}

static __always_inline int is_unspecified(const struct address *a)
{
	return !a->words[3] && !a->words[0] && !a->words[1] &&
	       (!a->words[2] || a->words[2] == IPV4_MAPPED);
}

static __always_inline int is_loopback(const struct address *a)
{
	if (is_ipv4(a)) return (a->words[3] & bpf_htonl(0xff000000)) == bpf_htonl(0x7f000000);
	return !a->words[0] && !a->words[1] && !a->words[2] && a->words[3] == bpf_htonl(1);
}

/* Eight bits of the key; the writer computes the same. */
static __always_inline __u32 tag_of(const struct frontend_key *key)
{
	__u32 last = key->port | (__u32)key->protocol << 16;
	__u32 mixed = key->address.words[0] ^ key->address.words[1] ^ key->address.words[2] ^
		      key->address.words[3];

	return ((mixed + last) * 2654435761u) >> 24;
}

/* One decision, copied: the element that it came from may belong to another key a moment later. */
struct decision {
	__u64 outcome;
	__u64 service;
	__u32 affinity_seconds;
};

static __always_inline int look_up(const struct frontend_key *key, __u32 class, struct decision *d)
{
	struct frontend *found = bpf_map_lookup_elem(&frontends, key);

	if (!found || class >= CLASSES) return 0;
	d->service = found->service;
	d->affinity_seconds = found->affinity_seconds;
	barrier();
	d->outcome = *(volatile __u64 *)&found->outcomes[class];
	return OUTCOME_TAG(d->outcome) == tag_of(key) ? 1 : -1;
}

/* 1: there is one. A tag that does not fit: the element went to another key meanwhile; once more. */
static __always_inline int look_up_surely(const struct frontend_key *key, __u32 class,
					  struct decision *d)
{
	int result = look_up(key, class, d);

	if (result < 0) result = look_up(key, class, d);
	return result > 0;
}

static __always_inline __u32 address_flags(const struct address *a)
{
	__u32 *flags = bpf_map_lookup_elem(&node_addresses, a);

	return flags ? *flags : 0;
}

static __always_inline int serves_node_ports(const struct address *a, const struct settings *s,
					     __u32 class)
{
	if (is_loopback(a)) return class == CLASS_HOST && s->flags & SETTING_LOOPBACK_NODE_PORTS;
	return address_flags(a) & ADDRESS_NODE_PORTS;
}

/*
 * The address itself, and where it is the node's, the node port. A Service address that the node has
 * itself is left to packets: a process may serve it there, exempt from tracking and so from every rule
 * that translates, as NodeLocal DNSCache does.
 */
static __always_inline int decide(const struct frontend_key *key, const struct settings *s,
				  __u32 class, struct decision *d)
{
	struct frontend_key node_port;

	/* Connecting to 0.0.0.0 means this host, and node ports are kept under that address. */
	if (is_unspecified(&key->address)) return 0;
	if (look_up_surely(key, class, d)) return !(address_flags(&key->address) & ADDRESS_OWN);
	if (!serves_node_ports(&key->address, s, class)) return 0;
	node_port = *key;
	node_port.address.words[0] = 0;
	node_port.address.words[1] = 0;
	node_port.address.words[2] = is_ipv4(&key->address) ? IPV4_MAPPED : 0;
	node_port.address.words[3] = 0;
	return look_up_surely(&node_port, class, d);
}

struct search {
	struct address address;
	__u32 port;
	__u32 first;
	__u32 count;
	__u32 index;
	__u32 found;
};

static __always_inline int is_at(const struct search *s, __u32 index)
{
	__u32 at = s->first + index;
	struct slot *slot;

	if (index >= s->count) return 0;
	slot = bpf_map_lookup_elem(&slots, &at);
	return slot && slot->port == s->port && same_address(&slot->address, &s->address);
}

static long search_step(__u32 index, void *context)
{
	struct search *s = context;

	if (!is_at(s, index)) return 0;
	s->index = index;
	s->found = 1;
	return 1;
}

/* Whether the endpoint is in the list: where it was last, or anywhere. */
static __always_inline int is_member(struct search *s)
{
	if (is_at(s, s->index)) return 1;
	s->found = 0;
	bpf_loop(s->count, search_step, s, 0);
	return s->found;
}

struct chosen {
	struct address address;
	__u32 port;
	__u32 index;
};

static __always_inline void choose_found(const struct search *s, struct chosen *c)
{
	c->address = s->address;
	c->port = s->port;
	c->index = s->index;
}

static __always_inline int choose_any(const struct decision *d, struct chosen *c)
{
	__u32 count = OUTCOME_COUNT(d->outcome), at;
	struct slot *slot;

	if (!count) return 0;
	c->index = bpf_get_prandom_u32() % count;
	at = OUTCOME_FIRST(d->outcome) + c->index;
	slot = bpf_map_lookup_elem(&slots, &at);
	if (!slot || !slot->port) return 0;
	c->address = slot->address;
	c->port = slot->port;
	return 1;
}

/* 1: the client stays with an endpoint, and it still is one. */
static __always_inline int choose_again(const struct decision *d, struct affinity_key *who,
					struct chosen *c)
{
	struct affinity *known;

	who->service = d->service;
	known = bpf_map_lookup_elem(&affinities, who);
	if (known && bpf_ktime_get_ns() - known->seen_ns < d->affinity_seconds * NS_PER_SECOND) {
		struct search s = {
			.address = known->address,
			.port = known->port,
			.first = OUTCOME_FIRST(d->outcome),
			.count = OUTCOME_COUNT(d->outcome),
			.index = known->index,
		};

		if (is_member(&s)) {
			choose_found(&s, c);
			return 1;
		}
	}
	return 0;
}

/* 1: `c` is the endpoint. The caller must have checked the flags of the outcome. */
static __always_inline int choose(const struct decision *d, struct affinity_key *who,
				  struct chosen *c)
{
	if (OUTCOME_FLAGS(d->outcome) & OUTCOME_AFFINITY && choose_again(d, who, c)) return 1;
	return choose_any(d, c);
}

static __always_inline __u64 *affinity_counter(__u64 service, __u32 counter)
{
	struct affinity_count_key key = { .service = service, .counter = counter };

	return bpf_map_lookup_elem(&affinity_counts, &key);
}

static __always_inline int make_affinity_counter(__u64 service, __u32 counter)
{
	struct affinity_count_key key = { .service = service, .counter = counter };
	__u64 none = 0;
	long result = bpf_map_update_elem(&affinity_counts, &key, &none, BPF_NOEXIST);

	return !result || result == -EEXIST;
}

/*
 * NULL: there are more Services with affinity than counters. The writer's counter is created first,
 * so that the writer has one for every Service with clients.
 */
static __always_inline __u64 *added_clients(__u64 service)
{
	__u64 *found = affinity_counter(service, AFFINITY_ADDED);

	if (found) return found;
	if (!make_affinity_counter(service, AFFINITY_REMOVED)) return 0;
	make_affinity_counter(service, AFFINITY_ADDED);
	return affinity_counter(service, AFFINITY_ADDED);
}

static __always_inline __u64 remembered_clients(__u64 service, const __u64 *added)
{
	__u64 *removed = affinity_counter(service, AFFINITY_REMOVED);

	return *added - (removed ? *removed : 0);
}

/* At the limit a client gets no affinity entry, and is balanced at random each time. */
static __always_inline void remember_client(const struct affinity_key *who,
					    const struct affinity *fresh)
{
	__u64 *added = added_clients(who->service), *added_to_all = added_clients(0), all;

	if (!added || !added_to_all) return;
	all = remembered_clients(0, added_to_all);
	if (all >= AFFINITY_ROOM) return;
	if (remembered_clients(who->service, added) >= (AFFINITY_ROOM - all) / AFFINITY_SHARE) return;
	if (bpf_map_update_elem(&affinities, who, fresh, BPF_NOEXIST)) return;
	__sync_fetch_and_add(added, 1);
	__sync_fetch_and_add(added_to_all, 1);
}

/*
 * The endpoint has the connection: count it, and store the affinity. Not earlier: a client that is
 * left to the rules behind gets its endpoint there.
 */
static __always_inline void note(const struct decision *d, const struct affinity_key *who,
				 const struct chosen *c)
{
	__u32 at = OUTCOME_FIRST(d->outcome) + c->index;
	struct slot *slot = bpf_map_lookup_elem(&slots, &at);

	if (slot) __sync_fetch_and_add(&slot->connections, 1);
	if (OUTCOME_FLAGS(d->outcome) & OUTCOME_AFFINITY) {
		struct affinity fresh = {
			.seen_ns = bpf_ktime_get_ns(),
			.address = c->address,
			.port = c->port,
			.index = c->index,
		};

		if (bpf_map_update_elem(&affinities, who, &fresh, BPF_EXIST))
			remember_client(who, &fresh);
	}
}

#endif
