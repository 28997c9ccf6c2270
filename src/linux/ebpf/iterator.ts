import { insideNetworkNamespace } from '../inside-namespace.ts';
import { Attr } from './attr.ts';
import { AttachType, Command } from './bpf-constants.ts';
import { callFailed, succeeded } from './bpf-error.ts';
import type { BpfProgram } from './bpf-program.ts';
import { bpf, closeDescriptor, Errno, readOnThread } from './system-call.ts';

const READ_BYTES = 64 * 1024;
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface IteratorRun {
  /**
   * Path of the network namespace to iterate over; default: that of this thread. The kernel binds
   * it when the iterator is created, so only that happens inside.
   */
  readonly networkNamespace?: string;
  readonly signal: AbortSignal;
}

/** Runs a program once for each object, such as every UDP socket; gives what it wrote. */
export async function runIterator(program: BpfProgram, run: IteratorRun): Promise<Buffer> {
  const attr = new Attr().u32(0, program.fd).u32(8, AttachType.iterator);
  const doing = `run the iterator ${program.name}`;
  const link = succeeded(doing, bpf(Command.linkCreate, attr));
  try {
    const make = (): number => bpf(Command.iteratorCreate, new Attr().u32(0, link));
    const { networkNamespace } = run;
    const made =
      networkNamespace === undefined ? make() : insideNetworkNamespace(networkNamespace, make);
    const fd = succeeded(doing, made);
    try {
      return await readToEnd(fd, { doing, signal: run.signal });
    } finally {
      closeDescriptor(fd);
    }
  } finally {
    closeDescriptor(link);
  }
}

/** The program runs inside these reads: milliseconds for ten thousand sockets. */
async function readToEnd(
  fd: number,
  { doing, signal }: { readonly doing: string; readonly signal: AbortSignal },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    signal.throwIfAborted();
    const into = Buffer.alloc(READ_BYTES);
    const read = await readOnThread(fd, into);
    if (read === 0 || size > MOST_OUTPUT_BYTES) return Buffer.concat(chunks);
    // After a million objects the kernel has us ask again.
    if (read === -Errno.EAGAIN || read === -Errno.EINTR) continue;
    if (read < 0) throw callFailed(doing, read);
    chunks.push(into.subarray(0, read));
    size += read;
  }
}
