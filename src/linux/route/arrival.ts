import { constants } from 'node:os';
import type { IpAddress } from '../../addresses/ip.ts';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { request } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { NETLINK_ROUTE } from './route-protocol.ts';
import { arrivalQuestion } from './route-requests.ts';

/** Where rp_filter drops: EINVAL since Linux 6.17, EXDEV before. */
const DROPPED = new Set([constants.errno.EINVAL, constants.errno.EXDEV]);

/** A packet that would come in by a link. */
export interface Arrival {
  readonly from: IpAddress;
  readonly to: IpAddress;
  readonly linkIndex: number;
}

/** Whether the kernel's source validation would drop the packet; asked without one. */
export async function isDroppedAtArrival(arrival: Arrival): Promise<boolean> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  try {
    await request(netlink, arrivalQuestion(arrival, 1));
    return false;
  } catch (error) {
    if (error instanceof NetlinkRejection && DROPPED.has(error.errno)) return true;
    if (error instanceof NetlinkRejection) return false;
    throw error;
  }
}
