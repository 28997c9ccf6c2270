// The same work as main.ts gives to src/linux/ebpf, in C and with nothing in between: what it costs
// at least. Prints one line for each kind of work: its name and milliseconds of CPU,
// which a busy machine changes less than those of the clock.
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEY 20
#define VALUE 32

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static long call(int command, union bpf_attr *attr, const char *what)
{
	long result = syscall(SYS_bpf, command, attr, sizeof *attr);
	if (result < 0) {
		perror(what);
		exit(1);
	}
	return result;
}

static void report(const char *name, double since)
{
	printf("%s %.3f\n", name, now() - since);
}

static void one(int command, int fd, void *key, void *value)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.map_fd = fd;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	call(command, &attr, "one");
}

static void batch(int command, int fd, uint32_t count, void *keys, void *values)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.batch.map_fd = fd;
	attr.batch.keys = (uintptr_t)keys;
	attr.batch.values = (uintptr_t)values;
	attr.batch.count = count;
	call(command, &attr, "batch");
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? atoi(argv[1]) : 150000, singly = 20000;
	unsigned char *keys = calloc(count, KEY), *values = calloc(count, VALUE);
	union bpf_attr attr;
	double start;
	int fd;

	for (uint32_t i = 0; i < count; i++) {
		memcpy(keys + (size_t)i * KEY, &i, 4);
		memcpy(values + (size_t)i * VALUE, &i, 4);
	}
	memset(&attr, 0, sizeof attr);
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = KEY;
	attr.value_size = VALUE;
	attr.max_entries = count;
	attr.map_flags = BPF_F_NO_PREALLOC;
	fd = call(BPF_MAP_CREATE, &attr, "create");

	start = now();
	batch(BPF_MAP_UPDATE_BATCH, fd, count, keys, values);
	report("write", start);
	start = now();
	batch(BPF_MAP_UPDATE_BATCH, fd, count, keys, values);
	report("overwrite", start);
	start = now();
	for (uint32_t i = 0; i < singly; i++)
		one(BPF_MAP_UPDATE_ELEM, fd, keys + (size_t)i * KEY, values + (size_t)i * VALUE);
	report("update-one", start);
	start = now();
	for (uint32_t i = 0; i < singly; i++) {
		unsigned char value[VALUE];
		one(BPF_MAP_LOOKUP_ELEM, fd, keys + (size_t)i * KEY, value);
	}
	report("lookup-one", start);
	start = now();
	batch(BPF_MAP_DELETE_BATCH, fd, count, keys, 0);
	report("delete", start);
	return 0;
}
