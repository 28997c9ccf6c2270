import { dump } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { type NetlinkMessage, readAttributes, textOf } from '../netlink/reader.ts';
import { IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO } from './link-codec.ts';
import {
  AF_UNSPEC,
  LINK_FIXED_BYTES,
  linksQuestion,
  NETLINK_ROUTE,
  RTM_NEWLINK,
} from './route-protocol.ts';

const IFLA_MASTER = 10;
const IFLA_INFO_DATA = 2;
const IFLA_INFO_SLAVE_KIND = 4;
const IFLA_INFO_SLAVE_DATA = 5;
const IFLA_BR_NF_CALL_IPTABLES = 36;
const IFLA_BR_NF_CALL_IP6TABLES = 37;
/** `hairpin` in the words of `ip link`. */
const IFLA_BRPORT_MODE = 4;
const IFF_PROMISC = 0x100;
const BRIDGE = 'bridge';

export interface Bridge {
  readonly index: number;
  readonly name: string;
  readonly isPromiscuous: boolean;
  /** Whether bridged packets pass netfilter by a flag of this bridge, apart from the sysctl. */
  readonly callsNetfilter: { readonly IPv4: boolean; readonly IPv6: boolean };
  readonly ports: readonly BridgePort[];
}

export interface BridgePort {
  readonly name: string;
  /** Whether a packet may leave by the port that it came in by. */
  readonly hairpin: boolean;
}

interface Linked {
  readonly bridge?: Omit<Bridge, 'ports'>;
  readonly port?: BridgePort & { readonly master: number };
}

/** The bridges of the machine with their ports. */
export async function listBridges(): Promise<readonly Bridge[]> {
  using netlink = openNetlink({ protocol: NETLINK_ROUTE });
  const links: Linked[] = [];
  await dump(netlink, linksQuestion(1), (message) => {
    const linked = readLinked(message);
    if (linked !== undefined) links.push(linked);
  });
  const ports = links.flatMap(({ port }) => port ?? []);
  return links.flatMap(({ bridge }) => {
    if (bridge === undefined) return [];
    const own = ports.filter(({ master }) => master === bridge.index);
    return [{ ...bridge, ports: own.map(({ name, hairpin }) => ({ name, hairpin })) }];
  });
}

/** Undefined: neither a bridge nor a port of one. */
function readLinked({ type, body }: NetlinkMessage): Linked | undefined {
  if (type !== RTM_NEWLINK || body.length < LINK_FIXED_BYTES || body[0] !== AF_UNSPEC) {
    return undefined;
  }
  const attributes = readAttributes(body.subarray(LINK_FIXED_BYTES));
  const about = attributes.get(IFLA_LINKINFO);
  if (about === undefined) return undefined;
  const info = readAttributes(about);
  const name = textOf(attributes.get(IFLA_IFNAME));
  if (textOf(info.get(IFLA_INFO_KIND)) === BRIDGE) {
    const data = readAttributes(info.get(IFLA_INFO_DATA) ?? Buffer.alloc(0));
    const index = body.readInt32LE(4);
    const isPromiscuous = (body.readUInt32LE(8) & IFF_PROMISC) !== 0;
    const callsNetfilter = {
      IPv4: data.get(IFLA_BR_NF_CALL_IPTABLES)?.[0] === 1,
      IPv6: data.get(IFLA_BR_NF_CALL_IP6TABLES)?.[0] === 1,
    };
    return { bridge: { index, name, isPromiscuous, callsNetfilter } };
  }
  if (textOf(info.get(IFLA_INFO_SLAVE_KIND)) !== BRIDGE) return undefined;
  const data = readAttributes(info.get(IFLA_INFO_SLAVE_DATA) ?? Buffer.alloc(0));
  const master = attributes.get(IFLA_MASTER)?.readUInt32LE(0) ?? 0;
  return { port: { name, master, hairpin: data.get(IFLA_BRPORT_MODE)?.[0] === 1 } };
}
