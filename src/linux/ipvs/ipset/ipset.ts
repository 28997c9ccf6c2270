import { constants } from 'node:os';
import { NetlinkRejection } from '../../netlink/netlink-error.ts';
import { dump, request } from '../../netlink/netlink-exchange.ts';
import { openNetlink } from '../../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../../netlink/netlink-writer.ts';
import { eachAttribute, findAttribute, readAttributes, textOf } from '../../netlink/reader.ts';

/** Numbers of linux/netfilter/ipset/ip_set.h that we use. */
const NETLINK_NETFILTER = 12;
const SUBSYSTEM = 6 << 8;
const CMD_DESTROY = 3;
const CMD_LIST = 7;
const ATTR_PROTOCOL = 1;
const ATTR_SETNAME = 2;
const ATTR_FLAGS = 6;
const ATTR_ADT = 8;
const DATA_PORT = 4;
/** Kernels have taken it since 2011; 7 came with 4.20. */
const PROTOCOL = 6;
const FLAG_LIST_SETNAME = 1 << 1;
/** A rule uses it still. */
const IPSET_ERR_BUSY = 4100;
const HEADER = Uint8Array.of(2, 0, 0, 0);

const NLM_F_REQUEST = 1;
const NLM_F_ACK = 4;
const NLM_F_DUMP = 0x300;
/** Without it a set that is not there is no error. */
const NLM_F_EXCL = 0x200;
/** A kernel without ipset has nobody to answer for the subsystem. */
const { EINVAL, ENOENT, EOPNOTSUPP } = constants.errno;

/** The names of all sets of the network namespace; none where the kernel has no ipset. */
export async function listIpsets(): Promise<readonly string[]> {
  const names: string[] = [];
  const writer = beginQuestion(CMD_LIST, NLM_F_DUMP);
  writer.u32be(ATTR_FLAGS, FLAG_LIST_SETNAME);
  await list(writer, 'list ipsets', (attributes) => {
    names.push(textOf(findAttribute(attributes, ATTR_SETNAME)));
  });
  return names.sort();
}

/** The ports of the elements; none where there is no such set. */
export async function ipsetPorts(name: string): Promise<ReadonlySet<number>> {
  const ports = new Set<number>();
  const writer = beginQuestion(CMD_LIST, NLM_F_DUMP);
  writer.text(ATTR_SETNAME, name);
  await list(writer, `list ipset ${name}`, (attributes) => {
    const elements = findAttribute(attributes, ATTR_ADT);
    for (const { value } of eachAttribute(elements ?? Buffer.alloc(0))) {
      const port = readAttributes(value).get(DATA_PORT);
      if (port !== undefined) ports.add(port.readUInt16BE(0));
    }
  });
  return ports;
}

/** `busy`: a rule uses it. */
export async function destroyIpset(name: string): Promise<'destroyed' | 'missing' | 'busy'> {
  const writer = beginQuestion(CMD_DESTROY, NLM_F_ACK | NLM_F_EXCL);
  writer.text(ATTR_SETNAME, name);
  writer.endMessage(0);
  using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
  try {
    await request(netlink, { bytes: writer.bytes, what: `destroy ipset ${name}` });
    return 'destroyed';
  } catch (error) {
    if (!(error instanceof NetlinkRejection)) throw error;
    if (error.errno === ENOENT) return 'missing';
    if (error.errno === IPSET_ERR_BUSY) return 'busy';
    throw error;
  }
}

function beginQuestion(command: number, flags: number): NetlinkWriter {
  const writer = new NetlinkWriter();
  const type = SUBSYSTEM | command;
  writer.beginMessage({ type, flags: NLM_F_REQUEST | flags, sequence: 1 });
  writer.raw(HEADER);
  writer.u8(ATTR_PROTOCOL, PROTOCOL);
  return writer;
}

async function list(
  writer: NetlinkWriter,
  what: string,
  onAttributes: (attributes: Buffer) => void,
): Promise<void> {
  writer.endMessage(0);
  using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
  try {
    await dump(netlink, { bytes: writer.bytes, what }, ({ body }) =>
      onAttributes(body.subarray(HEADER.length)),
    );
  } catch (error) {
    const isAbsent =
      error instanceof NetlinkRejection && [EINVAL, ENOENT, EOPNOTSUPP].includes(error.errno);
    if (!isAbsent) throw error;
  }
}
