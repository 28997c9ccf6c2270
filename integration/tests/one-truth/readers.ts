import { toldByIptables } from './read-iptables.ts';
import { toldByNftables } from './read-nftables.ts';

/** For each mode, who follows a packet through the rules that `render` prints. */
export const READERS = {
  nftables: toldByNftables,
  iptables: toldByIptables,
  'socket-ebpf': toldByNftables,
  'tc-ebpf': toldByNftables,
  // The rules behind: what IPVS takes gets the same treatment there.
  ipvs: toldByNftables,
  // The rules behind: what is handed over gets the same treatment from the forwarder.
  userspace: toldByNftables,
} as const;
