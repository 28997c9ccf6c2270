import koffi from 'koffi';

// Functions are resolved on the first call because every command imports this, and none needs it.
// They throw where the C library has no such function.

/**
 * Returns memory that C code has freed to the system. glibc keeps it per thread: up to 60 MB after
 * a start in which V8 compiled on several threads.
 */
export function giveBackFreed(): void {
  const libc = koffi.load('libc.so.6');
  const trim: (keptBytes: number) => number = libc.func(
    'int malloc_trim(unsigned long kept_bytes)',
  );
  trim(0);
}

const M_MMAP_THRESHOLD = -3;
const LARGE_BYTES = 128 * 1024;

/**
 * Has large blocks mapped one by one, so that their pages go back to the system when they are freed.
 * glibc begins so, but moves its limit up with the first large block that is freed: from then on it
 * takes such blocks, the receive buffer of each netlink socket among them, from a heap that only grows,
 * and every one touches pages there that stay.
 */
export function mapLargeBlocks(): void {
  const libc = koffi.load('libc.so.6');
  const set: (option: number, value: number) => number = libc.func(
    'int mallopt(int option, int value)',
  );
  if (set(M_MMAP_THRESHOLD, LARGE_BYTES) !== 1) throw new Error('mallopt failed');
}
