import type { HostSockets } from '../../agent/host-sockets.ts';
import { socketOwners } from '../../linux/host-sockets/socket-owner.ts';
import { watchHostSockets } from '../../linux/host-sockets/watch-host-sockets.ts';
import type { Logger } from '../../log/logger.ts';

/** Ports that processes of this machine listen on, from the kernel. */
export function hostSockets(log: Logger): HostSockets {
  let told = '';
  const onProblem = (error: unknown): void => {
    const message = `cannot list the listening sockets of this machine: ${String(error)}`;
    if (message !== told) log.warn(message);
    told = message;
  };
  return {
    run: (onChange, signal) => watchHostSockets(onChange, signal, { onProblem }),
    owners: socketOwners,
  };
}
