/** Numbers of the kernel's nf_tables interface (uapi/linux/netfilter/nf_tables.h, nfnetlink.h). */

export const NETLINK_NETFILTER = 12;
/** Multicast group of everything that changes in nf_tables. */
export const NFNLGRP_NFTABLES = 7;
/** Multicast group of what traced packets meet. */
export const NFNLGRP_NFTRACE = 9;
const SUBSYSTEM = 10;

const type = (message: number) => (SUBSYSTEM << 8) | message;

export const MESSAGE = {
  batchBegin: 0x10,
  batchEnd: 0x11,
  newTable: type(0),
  deleteTable: type(2),
  newChain: type(3),
  getChain: type(4),
  deleteChain: type(5),
  newRule: type(6),
  getRule: type(7),
  deleteRule: type(8),
  newSet: type(9),
  getSet: type(10),
  deleteSet: type(11),
  newElements: type(12),
  getElements: type(13),
  deleteElements: type(14),
  newGeneration: type(15),
  getGeneration: type(16),
  trace: type(17),
} as const;

export const FLAG = {
  request: 1,
  acknowledge: 4,
  dump: 0x300,
  create: 0x400,
  append: 0x800,
} as const;

export type TableFamily = 'ip' | 'ip6';

/** `inet`: both families in one table. */
export type AnyFamily = TableFamily | 'inet';

export const FAMILY_NUMBER: Readonly<Record<AnyFamily, number>> = { inet: 1, ip: 2, ip6: 10 };

export function familyOfNumber(number: number | undefined): TableFamily | undefined {
  if (number === FAMILY_NUMBER.ip) return 'ip';
  return number === FAMILY_NUMBER.ip6 ? 'ip6' : undefined;
}

export const TABLE = { name: 1, flags: 2, userdata: 6 } as const;
/** The kernel deletes it with the socket that made it; other processes cannot change it. */
export const TABLE_FLAG_OWNER = 2;

export const CHAIN = { table: 1, name: 3, hook: 4, policy: 5, type: 7 } as const;
export const HOOK = { number: 1, priority: 2 } as const;
export const HOOK_NUMBER = {
  prerouting: 0,
  input: 1,
  forward: 2,
  output: 3,
  postrouting: 4,
} as const;

export const RULE = {
  table: 1,
  chain: 2,
  handle: 3,
  expressions: 4,
  userdata: 7,
} as const;

export const SET = {
  table: 1,
  name: 2,
  flags: 3,
  keyType: 4,
  keyLength: 5,
  dataType: 6,
  dataLength: 7,
  description: 9,
  id: 10,
  userdata: 13,
  expression: 17,
  /** Linux 6.16 and later. */
  count: 20,
} as const;
export const SET_FLAG = {
  anonymous: 1,
  interval: 4,
  map: 8,
  timeout: 0x10,
  evaluated: 0x20,
  concat: 0x80,
} as const;
export const SET_DESCRIPTION = { size: 1, concat: 2 } as const;

export const ELEMENTS = { table: 1, set: 2, list: 3 } as const;
export const ELEMENT = {
  key: 1,
  data: 2,
  timeout: 4,
  userdata: 6,
  expression: 7,
  keyEnd: 10,
} as const;

export const GENERATION = { id: 1, processId: 2, processName: 3 } as const;

/** An item of any list. */
export const LIST_ITEM = 1;
export const DATA = { value: 1, verdict: 2 } as const;
export const VERDICT = { code: 1, chain: 2 } as const;
/** Codes are signed in the kernel. */
export const VERDICT_CODE = { drop: 0, accept: 1, jump: -3, goto: -4, return: -5 } as const;
export const VERDICT_TYPE = 0xffff_ff00;
export const EXPRESSION = { name: 1, data: 2 } as const;
export const COUNTER = { bytes: 1, packets: 2 } as const;
