/*
 * The least that a full load of the socket hooks can cost: the same maps, the same entries, in the
 * same batches. Prints milliseconds of CPU.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEY 20
#define VALUE 40
#define SLOT 32
#define BATCH 4096

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make(int type, int key, int value, int entries, int flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = entries;
	attr.map_flags = flags;
	return bpf(BPF_MAP_CREATE, &attr);
}

static void write_batch(int map, void *keys, void *values, int count)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = map;
	attr.batch.keys = (unsigned long)keys;
	attr.batch.values = (unsigned long)values;
	attr.batch.count = count;
	if (!bpf(BPF_MAP_UPDATE_BATCH, &attr)) return;
	perror("batch");
	exit(1);
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
	int services = atoi(argv[1]), each = atoi(argv[2]);
	int frontends = make(BPF_MAP_TYPE_HASH, KEY, VALUE, services, BPF_F_NO_PREALLOC);
	int slots = make(BPF_MAP_TYPE_ARRAY, 4, SLOT, services * each, 0);
	char *keys = calloc(BATCH, KEY), *values = calloc(BATCH, VALUE);
	char *slot_keys = calloc(BATCH * each, 4), *slot_values = calloc(BATCH * each, SLOT);
	double from;

	(void)argc;
	if (frontends < 0 || slots < 0) {
		perror("maps");
		return 1;
	}
	from = cpu_ms();
	for (int first = 0; first < services; first += BATCH) {
		int count = services - first < BATCH ? services - first : BATCH;

		for (int i = 0; i < count; i++) {
			int service = first + i, *key = (int *)(keys + i * KEY);
			long *value = (long *)(values + i * VALUE);

			key[2] = 0xffff0000;
			key[3] = service;
			key[4] = 0x5000 | 6 << 16;
			for (int class = 0; class < 3; class++)
				value[class] = (long)service * each | (long)each << 28;
			for (int e = 0; e < each; e++) {
				int at = i * each + e, *slot = (int *)(slot_values + at * SLOT);

				((int *)slot_keys)[at] = service * each + e;
				slot[2] = 0xffff0000;
				slot[3] = service * each + e;
				slot[4] = 0x901f;
			}
		}
		write_batch(slots, slot_keys, slot_values, count * each);
		write_batch(frontends, keys, values, count);
	}
	printf("%.1f\n", cpu_ms() - from);
	return 0;
}
