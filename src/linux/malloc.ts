import koffi from 'koffi';

/**
 * What C code has freed goes back to the machine. glibc keeps it, for each thread apart: after a
 * start, in which V8 has compiled on several, that was up to 60 MB.
 *
 * Throws where the C library has no such function. It is looked for only now: every command imports
 * this, and none needs it.
 */
export function giveBackFreed(): void {
  const libc = koffi.load('libc.so.6');
  const trim: (keptBytes: number) => number = libc.func(
    'int malloc_trim(unsigned long kept_bytes)',
  );
  trim(0);
}
