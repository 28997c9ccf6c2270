import koffi from 'koffi';

/**
 * Returns memory that C code has freed to the system. glibc keeps it per thread: up to 60 MB after
 * a start in which V8 compiled on several threads. Throws where the C library has no such function.
 * It is resolved on the first call because every command imports this, and none needs it.
 */
export function giveBackFreed(): void {
  const libc = koffi.load('libc.so.6');
  const trim: (keptBytes: number) => number = libc.func(
    'int malloc_trim(unsigned long kept_bytes)',
  );
  trim(0);
}
