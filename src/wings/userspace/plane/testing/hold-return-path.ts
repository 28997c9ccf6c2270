/** Opens a return path, and holds it until the process ends. Its argument is the mark. */
import { openNetlink } from '../../../../linux/netlink/netlink-socket.ts';
import { NETLINK_NETFILTER } from '../../../../linux/nftables/nftables-protocol.ts';
import { ReturnPath } from '../forwarder/return-path.ts';

const netlink = openNetlink({ protocol: NETLINK_NETFILTER });
const path = await ReturnPath.open(netlink, Number(process.argv[2]));
process.stdout.write('open\n');
setInterval(() => path, 60_000);
