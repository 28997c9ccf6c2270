import { dump } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { LINK_FIXED_BYTES, linksQuestion, NETLINK_ROUTE } from './route-protocol.ts';

const INDEX_AT = 4;
const FLAGS_AT = 8;
const IFF_UP = 0x1;
/** The other end is there, and up. */
const IFF_LOWER_UP = 0x1_0000;

/** Indexes of the links over which nothing can be sent: down, or without a carrier. */
export async function linksWithoutCarrier(): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  await dump(netlink, linksQuestion(1), ({ body }) => {
    if (body.length < LINK_FIXED_BYTES) return;
    const flags = body.readUInt32LE(FLAGS_AT);
    if ((flags & IFF_UP) === 0 || (flags & IFF_LOWER_UP) === 0)
      found.add(body.readInt32LE(INDEX_AT));
  });
  return found;
}
