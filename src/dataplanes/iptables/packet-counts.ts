import { readAccount } from '../../linux/iptables/nfacct.ts';
import type { Netlink } from '../../linux/netlink/socket.ts';
import type { PacketCounts } from '../contract.ts';
import { INVALID_ACCOUNT, LOCALHOST_ACCOUNT } from './setting.ts';

export async function readPacketCounts(
  openNetlink: (kind: 'requests') => Netlink,
): Promise<PacketCounts> {
  using netlink = openNetlink('requests');
  return {
    invalidDropped: await readAccount(netlink, INVALID_ACCOUNT),
    localhostAccepted: await readAccount(netlink, LOCALHOST_ACCOUNT),
  };
}
