import { readFileSync } from 'node:fs';

const PATH = '/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_syn_sent';
/** The kernel's own, for the moment before connection tracking is there. */
const DEFAULT_SECONDS = 120;

/**
 * Conntrack timeout of SYN_SENT. Read synchronously, because /proc/sys/net shows the network
 * namespace of the thread that opens it.
 */
export function synSentSeconds(): number {
  try {
    return Number(readFileSync(PATH, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return DEFAULT_SECONDS;
  }
}
