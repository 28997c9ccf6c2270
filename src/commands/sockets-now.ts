import type { HeldPort } from '../agent/host-sockets.ts';
import { listHostSockets } from '../linux/host-sockets/watch-host-sockets.ts';
import { printWarning } from './terminal/print.ts';

/** The ports that processes of this machine hold; where they cannot be listed none, as for `run`. */
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
