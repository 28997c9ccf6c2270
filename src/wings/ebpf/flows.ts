import { DEFAULT_EBPF } from '../../config/settings.ts';
import { JoinedFlows } from '../../flows/joined.ts';
import { type Conntrack, KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { readPrograms, SOCKET_PROGRAMS } from '../../linux/ebpf/shipped-programs.ts';
import { networkNamespaces } from '../../linux/network-namespaces.ts';
import type { Surroundings } from '../../modes/part.ts';
import { SocketFlows } from './plane/socket-flows.ts';

/** Flows in conntrack, and sockets that were connected to an endpoint directly. */
export function trackedAndSocketFlows(
  { ebpf = DEFAULT_EBPF }: Surroundings,
  onProblem: (error: unknown) => void,
): Conntrack {
  const sockets = new SocketFlows({
    readObject: () => readPrograms(SOCKET_PROGRAMS),
    pinFolder: ebpf.pinFolder,
    namespaces: networkNamespaces,
    onProblem,
  });
  return new JoinedFlows([new KernelConntrack(), sockets]);
}
