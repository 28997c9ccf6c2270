import { readFileSync } from 'node:fs';

const PATH = '/proc/sys/net/netfilter/nf_conntrack_tcp_loose';

/**
 * Whether the kernel takes up TCP connections in their middle. Without it the packets of a
 * connection whose entry was deleted are invalid: they go nowhere, and nobody is told.
 * Read synchronously, because /proc/sys/net shows the network of the thread that opens it.
 */
export function picksUpTcpInTheMiddle(): boolean {
  return readFileSync(PATH, 'utf8').trim() !== '0';
}
