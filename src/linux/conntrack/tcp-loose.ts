import { readFileSync } from 'node:fs';

const PATH = '/proc/sys/net/netfilter/nf_conntrack_tcp_loose';

/**
 * Whether conntrack picks up established TCP connections. If not, packets of a connection whose
 * entry was deleted are invalid and dropped silently. Read synchronously, because /proc/sys/net
 * shows the network namespace of the thread that opens it.
 */
export function picksUpTcpInTheMiddle(): boolean {
  return readFileSync(PATH, 'utf8').trim() !== '0';
}
