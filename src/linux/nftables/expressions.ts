import type { NetlinkWriter } from '../netlink/netlink-writer.ts';
import {
  DATA,
  EXPRESSION,
  FAMILY_NUMBER,
  LIST_ITEM,
  type TableFamily,
  VERDICT,
  VERDICT_CODE,
} from './nftables-protocol.ts';
import type { Binary } from './userdata.ts';

/**
 * The expressions that rules are made of: each writes itself into the list of a rule. Registers
 * are the sixteen of four bytes; a value of more takes the following ones too.
 */
export type Expression = (writer: NetlinkWriter) => void;

const FIRST_REGISTER = 8;
const VERDICT_REGISTER = 0;

const META = { mark: 3, iifName: 6, oifName: 7, trace: 12, l4Protocol: 16 } as const;
const CT = { state: 0, direction: 1, status: 2, mark: 3 } as const;
/** Of the first packet of the connection, whichever direction this one has. */
const CT_ORIGINAL = {
  source: 8,
  destination: 9,
  protocol: 10,
  sourcePort: 11,
  destinationPort: 12,
} as const;
const CT_DIRECTION_ORIGINAL = 0;
const PAYLOAD_BASE = { network: 1, transport: 2 } as const;
const NAT_DESTINATION = 1;
const NAT_PORT_SPECIFIED = 2;
const MASQUERADE_FULLY_RANDOM = 16;
const FIB_ADDRESS_TYPE = 3;
const DYNSET = { update: 1, delete: 2 } as const;
const DYNSET_EXPRESSION = 7;
const LIMIT_PACKETS = 0;
const SECONDS_PER_DAY = 86_400n;
const NUMGEN_RANDOM = 1;
/** `wildcard`: 1 for a listener on all addresses. */
const SOCKET = { transparent: 0, wildcard: 2 } as const;
const COMPARE_AT_MOST = 3;
const COMPARE_AT_LEAST = 5;
const REJECT = { icmp: 0, tcpReset: 1 } as const;
const ROUTE_TCP_MSS = 3;
const HOST_TO_NETWORK = 1;
const TCP_OPTION = 1;
const TCP_OPTION_MSS = { type: 2, offset: 2, length: 2 } as const;

export const loadMark = (to: number) => meta(to, META.mark);
export const loadInterfaceName = (to: number) => meta(to, META.iifName);
export const loadOutInterfaceName = (to: number) => meta(to, META.oifName);
export const loadL4Protocol = (to: number) => meta(to, META.l4Protocol);
export const loadCtState = (to: number) => ct(to, CT.state);
export const loadCtStatus = (to: number) => ct(to, CT.status);
/** One byte: 0 for packets of the one that opened the connection, 1 for answers. */
export const loadCtDirection = (to: number) => ct(to, CT.direction);
export const loadCtMark = (to: number) => ct(to, CT.mark);
export const loadSourcePort = (to: number) =>
  payload(to, { base: PAYLOAD_BASE.transport, offset: 0, length: 2 });
export const loadDestinationPort = (to: number) =>
  payload(to, { base: PAYLOAD_BASE.transport, offset: 2, length: 2 });

export const loadTcpFlags = (to: number) =>
  payload(to, { base: PAYLOAD_BASE.transport, offset: 13, length: 1 });

export function loadSourceAddress(family: TableFamily, to: number): Expression {
  const at = family === 'ip' ? { offset: 12, length: 4 } : { offset: 8, length: 16 };
  return payload(to, { base: PAYLOAD_BASE.network, ...at });
}

export function loadDestinationAddress(family: TableFamily, to: number): Expression {
  const at = family === 'ip' ? { offset: 16, length: 4 } : { offset: 24, length: 16 };
  return payload(to, { base: PAYLOAD_BASE.network, ...at });
}

/** The protocol in the IP header; of IPv6 in the first one, where extension headers may precede it. */
export function loadNextProtocol(family: TableFamily, to: number): Expression {
  return payload(to, nextProtocolAt(family));
}

/** Writes it from a register, and leaves the checksum of the header as it is. */
export function setNextProtocol(family: TableFamily, from: number): Expression {
  const { base, offset, length } = nextProtocolAt(family);
  return expression('payload', (w) => {
    w.u32be(2, base);
    w.u32be(3, offset);
    w.u32be(4, length);
    w.u32be(5, register(from));
  });
}

export function loadNumber(to: number, value: Binary): Expression {
  return expression('immediate', (w) => {
    w.u32be(1, register(to));
    data(w, 2, value);
  });
}

/** A field of the connection's first packet; without a conntrack entry the rule ends. */
export function loadOriginal(field: keyof typeof CT_ORIGINAL, to: number): Expression {
  return expression('ct', (w) => {
    w.u32be(1, register(to));
    w.u32be(2, CT_ORIGINAL[field]);
    // The protocol is of both directions, and the kernel rejects one here.
    if (field !== 'protocol') w.u8(3, CT_DIRECTION_ORIGINAL);
  });
}

/** The kernel reports every chain and rule that the packet meets from here on. */
export function traceFromHere(): readonly Expression[] {
  return [
    loadNumber(0, '\x01'),
    expression('meta', (w) => {
      w.u32be(2, META.trace);
      w.u32be(3, register(0));
    }),
  ];
}

/** The type of a packet's address on this machine: local, broadcast … */
export function loadAddressType(field: 'saddr' | 'daddr', to: number): Expression {
  return expression('fib', (w) => {
    w.u32be(1, register(to));
    w.u32be(2, FIB_ADDRESS_TYPE);
    w.u32be(3, field === 'saddr' ? 1 : 2);
  });
}

/** Gives the packet to a transparent socket of this machine that listens at this port. */
export function giveToListener(port: number, by: number): readonly Expression[] {
  return [
    expression('immediate', (w) => {
      w.u32be(1, register(by));
      data(w, 2, String.fromCharCode(port >>> 8, port & 0xff));
    }),
    expression('tproxy', (w) => {
      w.u32be(1, 0);
      w.u32be(3, register(by));
    }),
  ];
}

/** A property of the socket that sent the packet or will receive it; without one the rule ends. */
export function loadSocket(property: keyof typeof SOCKET, to: number): Expression {
  return expression('socket', (w) => {
    w.u32be(1, SOCKET[property]);
    w.u32be(2, register(to));
  });
}

export function setMark(from: number): Expression {
  return expression('meta', (w) => {
    w.u32be(2, META.mark);
    w.u32be(3, register(from));
  });
}

export function setCtMark(from: number): Expression {
  return expression('ct', (w) => {
    w.u32be(2, CT.mark);
    w.u32be(4, register(from));
  });
}

export function compare(at: number, is: 'equal' | 'different', value: Binary): Expression {
  return expression('cmp', (w) => {
    w.u32be(1, register(at));
    w.u32be(2, is === 'equal' ? 0 : 1);
    data(w, 3, value);
  });
}

/** Continues only for values from the one to the other, as bytes with the largest first. */
export function compareRange(at: number, from: Binary, to: Binary): readonly Expression[] {
  const bound = (operation: number, value: Binary) =>
    expression('cmp', (w) => {
      w.u32be(1, register(at));
      w.u32be(2, operation);
      data(w, 3, value);
    });
  return [bound(COMPARE_AT_LEAST, from), bound(COMPARE_AT_MOST, to)];
}

/** (value & mask) ^ xor, in place. */
export function bitwise(at: number, change: { mask: Binary; xor: Binary }): Expression {
  return expression('bitwise', (w) => {
    w.u32be(1, register(at));
    w.u32be(2, register(at));
    w.u32be(3, change.mask.length);
    data(w, 4, change.mask);
    data(w, 5, change.xor);
  });
}

export function randomNumber(to: number, range: { modulus: number; offset: number }): Expression {
  return expression('numgen', (w) => {
    w.u32be(1, register(to));
    w.u32be(2, range.modulus);
    w.u32be(3, NUMGEN_RANDOM);
    w.u32be(4, range.offset);
  });
}

/** Continues only if the key exists; `to`: the register for the value from the map. */
export function lookup(set: string, key: number, to?: number): Expression {
  return expression('lookup', (w) => {
    w.text(1, set);
    w.u32be(2, register(key));
    if (to !== undefined) w.u32be(3, register(to));
    w.u32be(5, 0);
  });
}

export function lookupVerdict(map: string, key: number): Expression {
  return expression('lookup', (w) => {
    w.text(1, map);
    w.u32be(2, register(key));
    w.u32be(3, VERDICT_REGISTER);
    w.u32be(5, 0);
  });
}

/** Writes an element from the packet's way. */
export function remember(
  map: string,
  entry: { key: number; value: number; timeoutMs: number },
): Expression {
  return dynset(map, { ...entry, operation: DYNSET.update });
}

export function forget(map: string, entry: { key: number; value: number }): Expression {
  return dynset(map, { ...entry, operation: DYNSET.delete });
}

/**
 * Goes on only while the element of the key, which is made with its first packet, is within its
 * limit: a bucket of `burst` packets that `perDay` more come into.
 */
export function limitEach(
  set: string,
  limit: { key: number; timeoutMs: number; perDay: number; burst: number },
): Expression {
  return expression('dynset', (w) => {
    w.text(1, set);
    w.u32be(3, DYNSET.update);
    w.u32be(4, register(limit.key));
    w.u64be(6, BigInt(limit.timeoutMs));
    writeExpression(w, DYNSET_EXPRESSION, {
      name: 'limit',
      attributes: (inner) => {
        inner.u64be(1, BigInt(limit.perDay));
        inner.u64be(2, SECONDS_PER_DAY);
        inner.u32be(3, limit.burst);
        inner.u32be(4, LIMIT_PACKETS);
        inner.u32be(5, 0);
      },
    });
  });
}

export function destinationNat(
  family: TableFamily,
  from: { address: number; port: number },
): Expression {
  return expression('nat', (w) => {
    w.u32be(1, NAT_DESTINATION);
    w.u32be(2, FAMILY_NUMBER[family]);
    w.u32be(3, register(from.address));
    w.u32be(5, register(from.port));
    w.u32be(7, NAT_PORT_SPECIFIED);
  });
}

/** To an address; the port stays. */
export function destinationAddressNat(family: TableFamily, address: number): Expression {
  return expression('nat', (w) => {
    w.u32be(1, NAT_DESTINATION);
    w.u32be(2, FAMILY_NUMBER[family]);
    w.u32be(3, register(address));
  });
}

export function masquerade(): Expression {
  return expression('masq', (w) => w.u32be(1, MASQUERADE_FULLY_RANDOM));
}

/**
 * Lowers the MSS of a packet with SYN to what the routes to its source and its destination have room for.
 * Overwrites register `by`.
 */
export function clampMssToRoute(by: number): readonly Expression[] {
  const { type, offset, length } = TCP_OPTION_MSS;
  const load = expression('rt', (w) => {
    w.u32be(1, FIRST_REGISTER + by);
    w.u32be(2, ROUTE_TCP_MSS);
  });
  const order = expression('byteorder', (w) => {
    w.u32be(1, FIRST_REGISTER + by);
    w.u32be(2, FIRST_REGISTER + by);
    w.u32be(3, HOST_TO_NETWORK);
    w.u32be(4, length);
    w.u32be(5, length);
  });
  const store = expression('exthdr', (w) => {
    w.u8(2, type);
    w.u32be(3, offset);
    w.u32be(4, length);
    w.u32be(6, TCP_OPTION);
    w.u32be(7, FIRST_REGISTER + by);
  });
  return [load, order, store];
}

export function rejectWithPortUnreachable(family: TableFamily): Expression {
  return expression('reject', (w) => {
    w.u32be(1, REJECT.icmp);
    w.u8(2, family === 'ip' ? 3 : 4);
  });
}

export function rejectWithReset(): Expression {
  return expression('reject', (w) => {
    w.u32be(1, REJECT.tcpReset);
    w.u8(2, 0);
  });
}

export function verdict(code: 'drop' | 'jump' | 'goto' | 'return', chain?: string): Expression {
  return expression('immediate', (w) => {
    w.u32be(1, VERDICT_REGISTER);
    const nest = w.beginNested(2);
    writeVerdict(w, code, chain);
    w.endNested(nest);
  });
}

export function writeVerdict(
  w: NetlinkWriter,
  code: keyof typeof VERDICT_CODE,
  chain?: string,
): void {
  const nest = w.beginNested(DATA.verdict);
  w.u32be(VERDICT.code, VERDICT_CODE[code]);
  if (chain !== undefined) w.text(VERDICT.chain, chain);
  w.endNested(nest);
}

export function writeExpression(
  w: NetlinkWriter,
  type: number,
  written: { readonly name: string; readonly attributes?: Expression },
): void {
  const nest = w.beginNested(type);
  w.text(EXPRESSION.name, written.name);
  const inner = w.beginNested(EXPRESSION.data);
  written.attributes?.(w);
  w.endNested(inner);
  w.endNested(nest);
}

function expression(name: string, attributes: Expression): Expression {
  return (w) => writeExpression(w, LIST_ITEM, { name, attributes });
}

function meta(to: number, key: number): Expression {
  return expression('meta', (w) => {
    w.u32be(1, register(to));
    w.u32be(2, key);
  });
}

function ct(to: number, key: number): Expression {
  return expression('ct', (w) => {
    w.u32be(1, register(to));
    w.u32be(2, key);
  });
}

function payload(to: number, at: { base: number; offset: number; length: number }): Expression {
  return expression('payload', (w) => {
    w.u32be(1, register(to));
    w.u32be(2, at.base);
    w.u32be(3, at.offset);
    w.u32be(4, at.length);
  });
}

function nextProtocolAt(family: TableFamily) {
  return { base: PAYLOAD_BASE.network, offset: family === 'ip' ? 9 : 6, length: 1 };
}

function dynset(
  map: string,
  element: { key: number; value: number; operation: number; timeoutMs?: number },
): Expression {
  return expression('dynset', (w) => {
    w.text(1, map);
    w.u32be(3, element.operation);
    w.u32be(4, register(element.key));
    w.u32be(5, register(element.value));
    if (element.timeoutMs !== undefined) w.u64be(6, BigInt(element.timeoutMs));
  });
}

function data(w: NetlinkWriter, type: number, value: Binary): void {
  const nest = w.beginNested(type);
  w.binary(DATA.value, value);
  w.endNested(nest);
}

function register(index: number): number {
  return FIRST_REGISTER + index;
}
