/*
 * Moves the wall clock of one process, by LD_PRELOAD. A fake, because the real clock belongs to
 * the whole machine: setting it would disturb every other process, and time namespaces do not
 * cover CLOCK_REALTIME. The monotonic clocks stay the kernel's own.
 *
 * FAIRLEAD_WALL_CLOCK names a file of eight bytes: by how many seconds the clock is ahead. It is
 * mapped, so that a write to it is a jump at once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none = 0;
static volatile const int64_t *ahead_seconds = &none;

__attribute__((constructor)) static void map_file(void) {
  const char *path = getenv("FAIRLEAD_WALL_CLOCK");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *map = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) abort();
  close(file);
  ahead_seconds = map;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int result = (int)syscall(SYS_clock_gettime, clock, at);
  int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_wall) at->tv_sec += *ahead_seconds;
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  if (result == 0) *at = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}
