import { networkInterfaces } from 'node:os';
import { dump } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { type NetlinkMessage, readAttributes, textOf } from '../netlink/reader.ts';
import { IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO } from './link-codec.ts';
import { LINK_FIXED_BYTES, linksQuestion, NETLINK_ROUTE, RTM_NEWLINK } from './route-protocol.ts';

const IFLA_INFO_DATA = 2;
const IPV4_BYTES = 4;

/** Numbers of the attributes of each kind; a tunnel has one of both, both or none. */
const ATTRIBUTES: Readonly<Record<string, { readonly link: number; readonly local: number }>> = {
  vxlan: { link: 3, local: 4 },
  ipip: { link: 1, local: 2 },
  sit: { link: 1, local: 2 },
  gre: { link: 1, local: 6 },
  gretap: { link: 1, local: 6 },
};

interface Seen {
  readonly index: number;
  readonly name: string;
  /** Undefined: not a tunnel. */
  readonly tunnel?: { readonly link: number; readonly local: string };
}

/**
 * The link by which the packets of each tunnel leave, both by index: the one that it is bound to,
 * else the one with its local address. Tunnels of which the kernel says neither are left out.
 */
export async function tunnelWays(): Promise<ReadonlyMap<number, number>> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const links: Seen[] = [];
  await dump(netlink, linksQuestion(1), (message) => {
    const seen = readSeen(message);
    if (seen !== undefined) links.push(seen);
  });
  const byName = new Map(links.map(({ name, index }) => [name, index]));
  const ways = links.flatMap(({ index, tunnel }) => {
    if (tunnel === undefined) return [];
    const way = tunnel.link || byName.get(ownerOf(tunnel.local) ?? '');
    return way === undefined ? [] : [[index, way] as const];
  });
  return new Map(ways);
}

/** The name of the interface that has an IPv4 address. */
function ownerOf(local: string): string | undefined {
  const all = Object.entries(networkInterfaces());
  return all.find(([, addresses = []]) => addresses.some(({ address }) => address === local))?.[0];
}

function readSeen({ type, body }: NetlinkMessage): Seen | undefined {
  if (type !== RTM_NEWLINK || body.length < LINK_FIXED_BYTES) return undefined;
  const attributes = readAttributes(body.subarray(LINK_FIXED_BYTES));
  const link = { index: body.readInt32LE(4), name: textOf(attributes.get(IFLA_IFNAME)) };
  const about = readAttributes(attributes.get(IFLA_LINKINFO) ?? Buffer.alloc(0));
  const numbers = ATTRIBUTES[textOf(about.get(IFLA_INFO_KIND))];
  const data = about.get(IFLA_INFO_DATA);
  if (numbers === undefined || data === undefined) return link;
  const own = readAttributes(data);
  const local = own.get(numbers.local);
  return {
    ...link,
    tunnel: {
      link: own.get(numbers.link)?.readUInt32LE(0) ?? 0,
      local: local?.length === IPV4_BYTES ? local.join('.') : '',
    },
  };
}
