import { NamespaceError } from '../../../linux/inside-namespace.ts';
import { NetlinkError } from '../../../linux/netlink/netlink-error.ts';
import { SocketError } from '../../../linux/sockets/socket-error.ts';
import { TraceError } from '../../../linux/trace/trace.ts';

/** What a missing permission or feature of the kernel says; undefined: another error. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof TraceError || error instanceof NamespaceError) {
    return `${error.message}; ${error.next}`;
  }
  const isKernel = error instanceof SocketError || error instanceof NetlinkError;
  return isKernel ? error.message : undefined;
}
