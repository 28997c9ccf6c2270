import { constants } from 'node:os';
import { type IpAddress, parseIp } from '../../addresses/ip.ts';
import { NetlinkError, NetlinkRejection } from '../netlink/netlink-error.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import { IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, type MachineLink } from './link-codec.ts';
import { change } from './machine-routes.ts';
import {
  ADDRESS_FIXED_BYTES,
  AF_INET,
  AF_INET6,
  AF_UNSPEC,
  type DumpQuestion,
  LINK_FIXED_BYTES,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLM_F_REQUEST,
  RTM_DELLINK,
  RTM_NEWADDR,
  RTM_NEWLINK,
} from './route-protocol.ts';
import { listLinks } from './watch-links.ts';

const IFF_UP = 0x1;
const IFLA_INFO_DATA = 2;
const VETH_INFO_PEER = 1;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
/**
 * Of IPv4 addresses of the link. A socket that leaves by the link takes an address of another one as
 * its source, which answers find back to; systemd-resolved ignores links with host or link scope only.
 */
const RT_SCOPE_SITE = 200;
/** No duplicate address detection: no other host is on a link of our own. */
const IFA_F_NODAD = 0x02;
const { EEXIST, EINVAL, ENODEV, EOPNOTSUPP } = constants.errno;

/**
 * Kinds without a cable that have a carrier as long as they are up. `dummy` drops what is sent to it;
 * a veth leads to its peer, on which no process listens. A bridge without ports loses its carrier as soon
 * as anything sets its MAC address, as udev does by default.
 */
export type LinkKind = 'dummy' | 'veth';

export interface LinkSpec {
  readonly name: string;
  /** Tried in turn: a kernel may lack one. */
  readonly kinds: readonly LinkKind[];
  /** Addresses of either family, each for this machine alone (/32 or /128). */
  readonly addresses: readonly string[];
}

export async function findLink(name: string): Promise<MachineLink | undefined> {
  return (await listLinks()).find((link) => link.name === name);
}

/**
 * Creates the link, gives it the addresses and sets it up; returns its kind. Rejects with a
 * NetlinkError, with EEXIST if a link has the name, and leaves no link behind when it fails.
 */
export async function createLink(spec: LinkSpec): Promise<LinkKind> {
  const kind = await createOfKinds(spec);
  try {
    const link = await findLink(spec.name);
    if (link === undefined) throw new NetlinkError(`create link ${spec.name}`, { errno: ENODEV });
    for (const text of spec.addresses) {
      const address = parseIp(text);
      if (address === undefined) {
        throw new NetlinkError(`add address ${text}`, { errno: EINVAL });
      }
      await change(addressRequest(link, address), EEXIST);
    }
    await change(upRequest(link), EEXIST);
    const peer = kind === 'veth' ? await findLink(peerName(spec.name)) : undefined;
    if (peer !== undefined) await change(upRequest(peer), EEXIST);
    return kind;
  } catch (error) {
    await deleteLink(spec.name);
    throw error;
  }
}

/** Rejects with a NetlinkError, with ENODEV if there is no such link. */
export async function setLinkUp(name: string): Promise<void> {
  const link = await findLink(name);
  if (link === undefined) throw new NetlinkError(`set link ${name} up`, { errno: ENODEV });
  await change(upRequest(link), EEXIST);
}

/** Rejects with a NetlinkError; false: there is no such link. */
export async function deleteLink(name: string): Promise<boolean> {
  return change(linkRequest({ type: RTM_DELLINK, flags: 0, what: 'delete' }, { name }), ENODEV);
}

async function createOfKinds(spec: LinkSpec): Promise<LinkKind> {
  const how = { type: RTM_NEWLINK, flags: NLM_F_CREATE | NLM_F_EXCL, what: 'create' };
  let lacking: unknown = new NetlinkError(`create link ${spec.name}`, { errno: EINVAL });
  for (const kind of spec.kinds) {
    try {
      // No error is taken for success here: a link of another's would be configured.
      await change(linkRequest(how, { name: spec.name, kind }), 0);
      return kind;
    } catch (error) {
      if (!(error instanceof NetlinkRejection) || error.errno !== EOPNOTSUPP) throw error;
      lacking = error;
    }
  }
  throw lacking;
}

/** The other end of a veth; it goes with the first. */
function peerName(name: string): string {
  return `${name}-peer`;
}

function linkRequest(
  how: { readonly type: number; readonly flags: number; readonly what: string },
  link: { readonly name: string; readonly kind?: LinkKind },
): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK | how.flags;
  const message = writer.beginMessage({ type: how.type, flags, sequence: 1 });
  writer.raw(linkFixed({ index: 0, flags: 0 }));
  writer.text(IFLA_IFNAME, link.name);
  if (link.kind !== undefined) {
    const nested = writer.beginNested(IFLA_LINKINFO);
    writer.text(IFLA_INFO_KIND, link.kind);
    if (link.kind === 'veth') writePeer(writer, peerName(link.name));
    writer.endNested(nested);
  }
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `${how.what} link ${link.name}` };
}

function writePeer(writer: NetlinkWriter, name: string): void {
  const data = writer.beginNested(IFLA_INFO_DATA);
  const peer = writer.beginNested(VETH_INFO_PEER);
  writer.raw(linkFixed({ index: 0, flags: 0 }));
  writer.text(IFLA_IFNAME, name);
  writer.endNested(peer);
  writer.endNested(data);
}

function upRequest(link: MachineLink): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK;
  const message = writer.beginMessage({ type: RTM_NEWLINK, flags, sequence: 1 });
  writer.raw(linkFixed({ index: link.index, flags: IFF_UP }));
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `set link ${link.name} up` };
}

/** ifinfomsg: family, type, index, flags and the mask of the flags to change. */
function linkFixed(link: { readonly index: number; readonly flags: number }): Buffer {
  const bytes = Buffer.alloc(LINK_FIXED_BYTES);
  bytes[0] = AF_UNSPEC;
  bytes.writeInt32LE(link.index, 4);
  bytes.writeUInt32LE(link.flags, 8);
  bytes.writeUInt32LE(link.flags, 12);
  return bytes;
}

function addressRequest(link: MachineLink, address: IpAddress): DumpQuestion {
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  const message = writer.beginMessage({ type: RTM_NEWADDR, flags, sequence: 1 });
  const fixed = Buffer.alloc(ADDRESS_FIXED_BYTES);
  fixed[0] = address.version === 4 ? AF_INET : AF_INET6;
  fixed[1] = address.bytes.length * 8;
  fixed[2] = address.version === 4 ? 0 : IFA_F_NODAD;
  fixed[3] = address.version === 4 ? RT_SCOPE_SITE : 0;
  fixed.writeUInt32LE(link.index, 4);
  writer.raw(fixed);
  writer.bytesOf(IFA_LOCAL, address.bytes);
  writer.bytesOf(IFA_ADDRESS, address.bytes);
  writer.endMessage(message);
  return { bytes: writer.bytes, what: `add an address to link ${link.name}` };
}
