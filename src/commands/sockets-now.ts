import type { HeldPort } from '../agent/host-sockets.ts';
import { listHostSockets } from '../linux/host-sockets/watch-host-sockets.ts';
import { printWarning } from './terminal/print.ts';

/** Listening sockets of this machine; empty if they cannot be listed, as in `run`. */
export async function socketsNow({
  list = listHostSockets,
  onProblem = printWarning,
}: {
  readonly list?: () => Promise<readonly HeldPort[]>;
  readonly onProblem?: (message: string) => void;
} = {}): Promise<readonly HeldPort[]> {
  try {
    return await list();
  } catch (error) {
    onProblem(`cannot list the listening sockets of this machine: ${String(error)}`);
    return [];
  }
}
