import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

/** A processor of this machine that is one guest's, until it is disposed of. */
export interface Processor extends Disposable {
  readonly index: number;
}

/**
 * A guest has one processor, and every system call in it is a switch between two processes of this
 * machine. On one processor it takes less time than across two, and leaves the others free.
 * Undefined: each has a guest already.
 */
export async function takeProcessor(user = 'fairlead-guest'): Promise<Processor | undefined> {
  const status = await readFile('/proc/self/status', 'utf8');
  const [, allowed = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? [];
  // The first one serves interrupts too.
  for (const index of processorsIn(allowed).toReversed()) {
    const claim = await claimName(`\0${user}-processor-${index}`);
    if (claim) return { index, ...claim };
  }
  return undefined;
}

/** `0-2,5` */
export function processorsIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}

/** The kernel frees the name with the process, however it ends. */
async function claimName(name: string): Promise<Disposable | undefined> {
  const server = createServer();
  const isTaken = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(true);
      else reject(error);
    });
    server.listen({ path: name }, () => resolve(false));
  });
  if (isTaken) return undefined;
  server.unref();
  return { [Symbol.dispose]: () => void server.close() };
}
