import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { NetlinkRejection } from '../netlink/netlink-error.ts';
import { request } from '../netlink/netlink-exchange.ts';
import { openNetlink } from '../netlink/netlink-socket.ts';
import { NetlinkWriter } from '../netlink/netlink-writer.ts';
import {
  MESSAGE_GET_COUNT,
  NETLINK_NETFILTER,
  NLM_F_ACK,
  NLM_F_REQUEST,
} from './conntrack-protocol.ts';
import { writeFamily } from './question.ts';

const LOADED = '/proc/sys/net/netfilter/nf_conntrack_max';
/** The subsystem does not exist, and there is no module of it to load. */
const ABSENT = new Set([constants.errno.EINVAL, constants.errno.EOPNOTSUPP]);

/**
 * Whether the kernel tracks connections, or could: the module is loaded by the first rule that
 * needs it, and by this question. A process that may not ask is told yes.
 */
export async function hasConntrack(
  ask: () => Promise<void> = askForCount,
  loaded: string = LOADED,
): Promise<boolean> {
  if (existsSync(loaded)) return true;
  try {
    await ask();
    return true;
  } catch (error) {
    if (!(error instanceof NetlinkRejection)) throw error;
    return !ABSENT.has(error.errno);
  }
}

async function askForCount(): Promise<void> {
  using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
  const writer = new NetlinkWriter();
  const flags = NLM_F_REQUEST | NLM_F_ACK;
  const message = writer.beginMessage({ type: MESSAGE_GET_COUNT, flags, sequence: 1 });
  writeFamily(writer, undefined);
  writer.endMessage(message);
  await request(netlink, { bytes: writer.bytes, what: 'count conntrack entries' });
}
