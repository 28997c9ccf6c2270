const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

/**
 * The kernel's monotonic clock in milliseconds, the same in all threads and processes: the zero of
 * `performance.now()` is the start of the calling thread.
 */
export function openSharedClock(): () => number {
  const [seconds, nanoseconds] = process.hrtime();
  const offsetMs = seconds * MS_PER_SECOND + nanoseconds / NS_PER_MS - performance.now();
  return () => performance.now() + offsetMs;
}
