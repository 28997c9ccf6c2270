import { readAttributes, textOf } from '../netlink/reader.ts';
import { RULE_FINGERPRINT } from './batch.ts';
import type { TableRef } from './nft-objects.ts';
import { CHAIN, FAMILY_NUMBER, HOOK, RULE, SET } from './nftables-protocol.ts';
import { signed32, unsigned32, unsigned64 } from './read-numbers.ts';
import { type Binary, readUdata } from './userdata.ts';

const HEADER_BYTES = 4;

export interface StoredChain {
  readonly name: string;
  /** `nat 0 -100`: type, number of the hook and priority of a base chain. */
  readonly base?: string;
}

export interface StoredRule {
  readonly chain: string;
  readonly handle: bigint;
  /** Empty: a rule that is not ours. */
  readonly fingerprint: Binary;
}

export interface StoredSet {
  readonly name: string;
  readonly flags: number;
  readonly keyType: number;
  readonly keyLength: number;
  readonly dataType: number;
  readonly dataLength: number;
  readonly userdata: Binary;
  /** Whether each element that is added gets a counter. */
  readonly hasCounters: boolean;
  /** Number of elements; undefined: not reported by the kernel. */
  readonly count?: number;
}

export function decodeChain(message: Buffer, table: TableRef): StoredChain | undefined {
  const body = bodyOf(message, { table, nameAttribute: CHAIN.table });
  if (!body) return undefined;
  const hook = body.get(CHAIN.hook);
  const name = textOf(body.get(CHAIN.name));
  if (!hook) return { name };
  const at = readAttributes(hook);
  const number = unsigned32(at.get(HOOK.number)) ?? -1;
  const priority = signed32(at.get(HOOK.priority)) ?? 0;
  return { name, base: `${textOf(body.get(CHAIN.type))} ${number} ${priority}` };
}

export function decodeRule(message: Buffer, table: TableRef): StoredRule | undefined {
  const body = bodyOf(message, { table, nameAttribute: RULE.table });
  if (!body) return undefined;
  const fingerprint = readUdata(body.get(RULE.userdata), RULE_FINGERPRINT);
  return {
    chain: textOf(body.get(RULE.chain)),
    handle: unsigned64(body.get(RULE.handle)) ?? 0n,
    fingerprint: fingerprint?.toString('latin1') ?? '',
  };
}

export function decodeSet(message: Buffer, table: TableRef): StoredSet | undefined {
  const body = bodyOf(message, { table, nameAttribute: SET.table });
  if (!body) return undefined;
  const number = (type: number) => unsigned32(body.get(type)) ?? 0;
  const count = unsigned32(body.get(SET.count));
  return {
    ...(count === undefined ? {} : { count }),
    name: textOf(body.get(SET.name)),
    flags: number(SET.flags),
    keyType: number(SET.keyType),
    keyLength: number(SET.keyLength),
    dataType: number(SET.dataType),
    dataLength: number(SET.dataLength),
    userdata: body.get(SET.userdata)?.toString('latin1') ?? '',
    hasCounters: body.has(SET.expression),
  };
}

/** The attributes of a message, if it is about this table. */
function bodyOf(message: Buffer, wanted: { table: TableRef; nameAttribute: number }) {
  if (message[0] !== FAMILY_NUMBER[wanted.table.family]) return undefined;
  const body = readAttributes(message.subarray(HEADER_BYTES));
  return textOf(body.get(wanted.nameAttribute)) === wanted.table.name ? body : undefined;
}
