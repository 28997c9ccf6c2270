import { formatIp, parseIp } from '../../../../addresses/ip.ts';
import { ipv4Number } from '../../../../addresses/ipv4-number.ts';
import type { Family, Protocol, SourceClass } from '../../../../forwarding/model.ts';

/**
 * The writer's half of bpf/layout.h: where each field of the maps lies. A test compares it with the
 * types in the compiled object. Numbers are as the machine keeps them, ports as the network does.
 */

export const LAYOUT_VERSION = 3;

export const ADDRESS_BYTES = 16;

export const FRONTEND_KEY = { bytes: 20, address: 0, port: 16, protocol: 18 } as const;

export const FRONTEND = { bytes: 40, outcomes: 0, service: 24, affinitySeconds: 32 } as const;

export const SLOT = { bytes: 32, address: 0, port: 16, connections: 24 } as const;

export const AFFINITY_KEY = { bytes: 24, service: 0, client: 8 } as const;

export const AFFINITY = { bytes: 32, seenNs: 0 } as const;

export const AFFINITY_COUNT_KEY = { bytes: 16, service: 0, counter: 8 } as const;

/** Programs count what they add, the writer what it removes. */
export const AffinityCounter = { added: 0, removed: 1 } as const;

/** The part of the free entries that one Service may have. */
export const AFFINITY_SHARE = 8;

export const SETTINGS = {
  bytes: 80,
  hostCookie: 0,
  flags: 8,
  layoutVersion: 12,
  pods: 16,
} as const;

export const NETWORK = { bytes: 32, address: 0, mask: 16 } as const;

export const PEER = {
  bytes: 40,
  virtualAddress: 0,
  address: 16,
  virtualPort: 32,
  port: 34,
} as const;

export const ENDED_KEY = { bytes: 36, virtualAddress: 0, address: 16, virtualPort: 32, port: 34 };

export const OUTCOME_BYTES = 8;

/** The order of the outcomes in a frontend. */
export const CLASS_ORDER: readonly SourceClass[] = ['pod', 'host', 'outside'];

export const OutcomeFlag = {
  masquerade: 1,
  reject: 2,
  drop: 4,
  affinity: 8,
  ranges: 16,
  pass: 32,
  beyond: 64,
} as const;

export const SettingFlag = { loopbackNodePorts: 1, onlyHostSockets: 2 } as const;

/** Why an address is in the map of node addresses. */
export const AddressFlag = { nodePorts: 1, own: 2 } as const;

/** Packets that come in by this interface come from a pod of this node. */
export const InterfaceFlag: Readonly<Record<Family, number>> = { IPv4: 1, IPv6: 2 };

export const PROTOCOL_NUMBER: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

/** The maximum that fits into the word of an outcome. */
export const MOST_SLOTS = 2 ** 28;
export const MOST_ENDPOINTS = 2 ** 20 - 1;

/** One decision, as the programs load it: in one piece. */
export interface OutcomeWord {
  readonly first: number;
  readonly count: number;
  readonly flags: number;
  readonly tag: number;
}

/**
 * Entries are written as numbers of four bytes: a quarter of a million of them are on the way into
 * the kernel at a start, and writing bytes one by one takes three times as long.
 */
export type Words = Int32Array<ArrayBuffer>;

const WORD_BYTES = 4;

export function bytesOf(words: Words): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}

/** How many words a structure has. */
export function wordsIn({ bytes }: { readonly bytes: number }): number {
  return bytes / WORD_BYTES;
}

export function writeOutcome(target: Words, at: number, word: OutcomeWord): void {
  const { first, count, flags, tag } = word;
  target[at] = ((count & 0xf) << 28) | first;
  target[at + 1] = (tag << 24) | (flags << 16) | (count >>> 4);
}

export function readOutcome(source: Buffer, at: number): OutcomeWord {
  const low = source.readUInt32LE(at);
  const high = source.readUInt32LE(at + 4);
  return {
    first: low & 0xfff_ffff,
    count: (low >>> 28) | ((high & 0xffff) << 4),
    flags: (high >>> 16) & 0xff,
    tag: high >>> 24,
  };
}

const TAG_FACTOR = 2_654_435_761;

/** Eight bits of a frontend's key, by which a program sees that an element changed hands. */
export function tagOf(key: Words, at = 0): number {
  const mixed = word(key, at) ^ word(key, at + 1) ^ word(key, at + 2) ^ word(key, at + 3);
  return Math.imul(mixed + word(key, at + 4), TAG_FACTOR) >>> 24;
}

function word(words: Words, at: number): number {
  return words[at] ?? 0;
}

/** `::ffff:` as the machine reads it. */
const IPV4_MAPPED = 0xffff_0000 | 0;

/** IPv4 as `::ffff:a.b.c.d`. */
export function writeAddress(target: Words, at: number, text: string): void {
  const ipv4 = ipv4Number(text);
  if (ipv4 !== undefined) {
    target[at] = 0;
    target[at + 1] = 0;
    target[at + 2] = IPV4_MAPPED;
    target[at + 3] = swapped(ipv4);
    return;
  }
  const ip = parseIp(text);
  if (ip?.version !== 6) throw new RangeError(`'${text}' is not an IP address`);
  bytesOf(target).set(ip.bytes, at * WORD_BYTES);
}

/** From the order of the network to that of the machine. */
function swapped(number: number): number {
  return (number << 24) | ((number & 0xff00) << 8) | ((number >>> 8) & 0xff00) | (number >>> 24);
}

/** A port in the order of the network. */
export function portWord(port: number): number {
  return ((port & 0xff) << 8) | (port >>> 8);
}

export function readAddress(source: Buffer, at: number): string {
  const isIpv4 =
    source.readInt32LE(at) === 0 &&
    source.readInt32LE(at + 4) === 0 &&
    source.readInt32BE(at + 8) === 0xffff;
  if (isIpv4) return source.subarray(at + 12, at + ADDRESS_BYTES).join('.');
  return formatIp({ version: 6, bytes: source.subarray(at, at + ADDRESS_BYTES) });
}
