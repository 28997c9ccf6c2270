import type { Binary } from './userdata.ts';
import { xtMatch } from './xt-expressions.ts';
import { filled, host16, host32 } from './xt-struct.ts';

/** Structs of matches (uapi/linux/netfilter/xt_*.h), as iptables 1.8.9 fills them. */

const COMMENT_BYTES = 256;
export const LONGEST_COMMENT = COMMENT_BYTES - 1;

export const commentMatch = xtMatch({ name: 'comment', revision: 0, byteLength: COMMENT_BYTES });

const ANY_PORTS = host16(0) + host16(0xffff) + host16(0) + host16(0xffff);

/** With a port such a match is no module of the old tables. */
export const ANY_PORT_MATCH = {
  tcp: xtMatch({ name: 'tcp', revision: 0, byteLength: 16 })(ANY_PORTS),
  udp: xtMatch({ name: 'udp', revision: 0, byteLength: 16 })(ANY_PORTS),
} as const;

const SCTP = { chunkMapBytes: 256, flagCount: 4, hasDestinationPort: 2 } as const;
const NO_CHUNK_FLAG = '\u00ff\0\0';
const sctp = xtMatch({ name: 'sctp', revision: 0, byteLength: 296 });

export function sctpMatch(destinationPort: number | undefined): Binary {
  const port = host16(destinationPort ?? 0);
  const ports = port + port + host32(0);
  const chunks = '\0'.repeat(SCTP.chunkMapBytes) + host32(0) + NO_CHUNK_FLAG.repeat(SCTP.flagCount);
  const flags = host32(destinationPort === undefined ? 0 : SCTP.hasDestinationPort);
  return sctp(ports + chunks + host32(0) + flags);
}

const LOCAL_ADDRESS = host16(4);
const addressType = xtMatch({ name: 'addrtype', revision: 1, byteLength: 8 });

export const LOCAL_ADDRESS_MATCH = {
  source: addressType(LOCAL_ADDRESS),
  destination: addressType(host16(0) + LOCAL_ADDRESS),
} as const;

const CONNTRACK_STATE = {
  INVALID: 1,
  ESTABLISHED: 2,
  RELATED: 4,
  NEW: 8,
  SNAT: 0x40,
  DNAT: 0x80,
} as const;
/** Addresses, times and ports come first; none of them is matched. */
const CONNTRACK = { flagsOffset: 146, byState: 1 } as const;
const conntrack = xtMatch({ name: 'conntrack', revision: 3, byteLength: 168 });

/** Undefined: there is no such state. */
export function conntrackMatch(states: readonly string[], isInverted: boolean): Binary | undefined {
  let mask = 0;
  for (const state of states) {
    if (!isState(state)) return undefined;
    mask |= CONNTRACK_STATE[state];
  }
  const inverted = host16(isInverted ? CONNTRACK.byState : 0);
  const asked = host16(CONNTRACK.byState) + inverted + host16(mask);
  return conntrack('\0'.repeat(CONNTRACK.flagsOffset) + asked);
}

function isState(name: string): name is keyof typeof CONNTRACK_STATE {
  return Object.hasOwn(CONNTRACK_STATE, name);
}

const ACCOUNT_NAME_BYTES = 32;
const ACCOUNT_POINTER_BYTES = 8;
export const LONGEST_ACCOUNT_NAME = ACCOUNT_NAME_BYTES - 1;

export const accountMatch = xtMatch({
  name: 'nfacct',
  revision: 1,
  byteLength: ACCOUNT_NAME_BYTES + ACCOUNT_POINTER_BYTES,
});

const PROBABILITY_STEPS = 2 ** 31;
const statistic = xtMatch({ name: 'statistic', revision: 0, byteLength: 24 });

/** iptables leaves the probability a second time where the other mode has its counter. */
export function randomMatch(probability: number): Binary {
  const steps = host32(Math.round(probability * PROBABILITY_STEPS));
  return statistic(host32(0) + steps + host32(0) + steps);
}

const RECENT = { nameBytes: 200, maskOffset: 212, check: 1, set: 2, reap: 0x20 } as const;
export const LONGEST_RECENT_NAME = RECENT.nameBytes - 1;
const recent = xtMatch({ name: 'recent', revision: 1, byteLength: 232 });

/**
 * The initial bytes that iptables writes there; after a shorter name they remain behind the zero.
 */
const RECENT_DEFAULT_NAME = 'DEFAULT';

/** The recent match: records the source of the packet, or checks for it. */
export function recentMatch(of: {
  readonly name: string;
  readonly mask: Binary;
  readonly withinSeconds?: number;
}): Binary {
  const isSet = of.withinSeconds === undefined;
  const kind = isSet ? RECENT.set : RECENT.check | RECENT.reap;
  const head = host32(of.withinSeconds ?? 0) + host32(0) + host16(kind);
  const name = `${of.name}\0${RECENT_DEFAULT_NAME.slice(of.name.length + 1)}`;
  return recent(filled(head + name, RECENT.maskOffset) + of.mask);
}
