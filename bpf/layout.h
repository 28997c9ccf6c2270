/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps that both eBPF modes share, as the programs and the writer see them. The writer's half is
 * src/wings/ebpf/plane/maps/layout.ts, and a test compares the two by the types in the compiled object.
 *
 * Addresses always have 16 bytes; IPv4 is written ::ffff:a.b.c.d. So one set of maps and one path of
 * code serve both families and sockets of IPv6 that speak IPv4.
 */
#ifndef FAIRLEAD_LAYOUT_H
#define FAIRLEAD_LAYOUT_H

#include <linux/types.h>

/* Another number: maps that an older Fairlead has pinned are made anew. */
#define LAYOUT_VERSION 3

enum source_class { CLASS_POD, CLASS_HOST, CLASS_OUTSIDE, CLASSES };

/* Why an outcome is not simply "one of these endpoints". */
enum outcome_flag {
	OUTCOME_MASQUERADE = 1, /* the endpoint must see an address of the node */
	OUTCOME_REJECT = 2,
	OUTCOME_DROP = 4,
	OUTCOME_AFFINITY = 8, /* a client stays with its endpoint */
	OUTCOME_RANGES = 16, /* only some sources may connect */
	OUTCOME_PASS = 32, /* left to the rules behind */
	OUTCOME_BEYOND = 64, /* some endpoint is not in the pods' network */
};

enum setting_flag {
	SETTING_LOOPBACK_NODE_PORTS = 1,
	SETTING_ONLY_HOST_SOCKETS = 2, /* those of pods are met as packets */
};

/* Why an address is in the map of node addresses. */
enum address_flag {
	ADDRESS_NODE_PORTS = 1, /* node ports are served on it */
	ADDRESS_OWN = 2, /* the node has it itself */
};

/* What comes in by this interface comes from a pod of this node. */
enum interface_flag {
	INTERFACE_PODS_IPV4 = 1,
	INTERFACE_PODS_IPV6 = 2,
};

struct address {
	__u32 words[4];
};

/* A node port has the unspecified address of its family. Ports are in network order. */
struct frontend_key {
	struct address address;
	__u16 port;
	__u8 protocol;
	__u8 zero;
};

/*
 * An outcome is one word, so that a reader sees one whole decision, the old or the new:
 * bits 0..27 first slot, 28..47 how many, 48..55 flags, 56..63 a hash of the frontend's key.
 * Elements of a hash map are reused at once: a slow reader may hold a pointer to the element of
 * another frontend, and detects it by the hash.
 */
struct frontend {
	__u64 outcomes[CLASSES];
	__u64 service; /* a hash of its name, the same after every restart */
	__u32 affinity_seconds;
	__u32 zero;
};

#define OUTCOME_FIRST(outcome) ((__u32)(outcome) & 0xfffffff)
#define OUTCOME_COUNT(outcome) ((__u32)((outcome) >> 28) & 0xfffff)
#define OUTCOME_FLAGS(outcome) ((__u32)((outcome) >> 48) & 0xff)
#define OUTCOME_TAG(outcome) ((__u32)((outcome) >> 56))

/* The endpoints of a service port lie side by side; a slot belongs to one service port. */
struct slot {
	struct address address;
	__u16 port;
	__u16 zero;
	__u32 zero_too;
	__u64 connections;
};

struct affinity_key {
	__u64 service;
	struct address client; /* of a socket: the cookie of its network namespace */
};

struct affinity {
	__u64 seen_ns;
	struct address address;
	__u16 port;
	__u16 zero;
	__u32 index; /* where in the list it was found last */
};

/*
 * Affinity entries of all Services together. A Service that has more than this share of the free
 * entries gets no further one: its new clients are balanced at random, and however many clients it
 * has, other Services find free entries. An entry is never evicted before its timeout.
 */
#define AFFINITY_ROOM 262144
#define AFFINITY_SHARE 8

/*
 * Affinity entries of a Service: added by the programs less removed by the writer, so that each
 * counter has one kind of writer and no update is lost. Service 0 is the sum of all Services.
 */
enum affinity_counter { AFFINITY_ADDED, AFFINITY_REMOVED };

struct affinity_count_key {
	__u64 service;
	__u32 counter;
	__u32 zero;
};

/* One that nothing is in has a mask of ones and no address. */
struct network {
	struct address address;
	struct address mask;
};

enum network_family { NETWORK_IPV4, NETWORK_IPV6, NETWORKS };

struct settings {
	__u64 host_cookie;
	__u32 flags;
	__u32 layout_version;
	struct network pods[NETWORKS]; /* whose packets are those of pods of this node */
};

/* A socket's peer: what the program asked for, and what it got. */
struct peer {
	struct address virtual_address;
	struct address address;
	__u16 virtual_port;
	__u16 port;
	__u32 index;
};

#endif
