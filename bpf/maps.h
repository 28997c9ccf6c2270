/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The maps themselves. Their sizes are where they begin: the loader gives others. */
#ifndef FAIRLEAD_MAPS_H
#define FAIRLEAD_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct frontend_key);
	__type(value, struct frontend);
} frontends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

/*
 * Addresses of the node, with flags. A machine that IPVS has served has the address of every Service.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct address);
	__type(value, __u32);
} node_addresses SEC(".maps");

/* Interfaces of this node's pods, by index; empty if pods are detected by their network. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} interfaces SEC(".maps");

/* The writer deletes those whose time is over: an LRU map would let one Service evict all others. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, AFFINITY_ROOM);
	__type(key, struct affinity_key);
	__type(value, struct affinity);
} affinities SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 131072);
	__type(key, struct affinity_count_key);
	__type(value, __u64);
} affinity_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

#endif
