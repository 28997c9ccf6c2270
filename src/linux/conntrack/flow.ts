import type { AddressBytes } from './address-bytes.ts';
import * as ct from './conntrack-protocol.ts';

/** One direction of a flow. */
export interface FlowTuple {
  readonly source: AddressBytes;
  readonly destination: AddressBytes;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A conntrack entry of a protocol with ports. */
export interface Flow {
  readonly version: 4 | 6;
  readonly protocol: number;
  /** As the first packet came, before any translation. */
  readonly original: FlowTuple;
  /** As answers come: their source is where the packets of the flow really go. */
  readonly reply: FlowTuple;
  /** Bits of CTA_STATUS. */
  readonly status: number;
  /** Distinguishes a flow from a later one with the same addresses and ports, nearly always. */
  readonly id: number;
  /** 0: the default zone. If zones differ by direction, the one that is not 0. */
  readonly zone: number;
  readonly mark: number;
  readonly timeoutSeconds: number;
  /** Undefined: not TCP. */
  readonly tcpState: number | undefined;
  /** When it began, in milliseconds since 1970; absent: the kernel keeps no such times. */
  readonly startedAtMs?: number;
}

const NS_OF_MS = 1_000_000n;
const NFGENMSG_BYTES = 4;
const ATTRIBUTE_HEADER_BYTES = 4;
/** Without the flag bits for `nested` and `network byte order`. */
const TYPE_MASK = 0x3fff;

/** A tuple while it is read. A port of -1: the protocol has none. */
interface TupleDraft {
  source: AddressBytes;
  destination: AddressBytes;
  sourcePort: number;
  destinationPort: number;
  protocol: number;
  zone: number;
}

/** Part of a message: from the begin of an attribute to the end of the last one. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Decodes the body of a message about a flow; undefined for a protocol without ports or an unknown
 * family. Walks the bytes itself rather than through maps of attributes: there may be a million
 * flows.
 */
export function decodeFlow(body: Buffer): Flow | undefined {
  const family = body[0];
  if (family !== ct.AF_INET && family !== ct.AF_INET6) return undefined;
  const original = emptyTuple();
  const reply = emptyTuple();
  let [status, id, zone, mark, timeoutSeconds] = [0, 0, 0, 0, 0];
  let tcpState: number | undefined;
  let startedAtMs: number | undefined;
  for (let at = NFGENMSG_BYTES, end = 0; at < body.length; at = (end + 3) & ~3) {
    end = endOfAttribute(body, at, body.length);
    const value = at + ATTRIBUTE_HEADER_BYTES;
    const type = typeAt(body, at);
    if (type === ct.CTA_TUPLE_ORIG) readTuple(body, { from: value, to: end }, original);
    else if (type === ct.CTA_TUPLE_REPLY) readTuple(body, { from: value, to: end }, reply);
    else if (type === ct.CTA_STATUS) status = body.readUInt32BE(value);
    else if (type === ct.CTA_ID) id = body.readUInt32BE(value);
    else if (type === ct.CTA_ZONE) zone = body.readUInt16BE(value);
    else if (type === ct.CTA_MARK) mark = body.readUInt32BE(value);
    else if (type === ct.CTA_TIMEOUT) timeoutSeconds = body.readUInt32BE(value);
    else if (type === ct.CTA_PROTOINFO) tcpState = readTcpState(body, { from: value, to: end });
    else if (type === ct.CTA_TIMESTAMP) startedAtMs = readStart(body, { from: value, to: end });
  }
  if (original.destinationPort < 0 || reply.destinationPort < 0) return undefined;
  const flow: Flow = {
    version: family === ct.AF_INET ? 4 : 6,
    protocol: original.protocol,
    original,
    reply,
    status,
    id,
    zone: zone || original.zone || reply.zone,
    mark,
    timeoutSeconds,
    tcpState,
  };
  return startedAtMs === undefined ? flow : { ...flow, startedAtMs };
}

function emptyTuple(): TupleDraft {
  return {
    source: '',
    destination: '',
    sourcePort: -1,
    destinationPort: -1,
    protocol: 0,
    zone: 0,
  };
}

function readTuple(body: Buffer, { from, to }: Span, into: TupleDraft): void {
  for (let at = from, end = 0; at < to; at = (end + 3) & ~3) {
    end = endOfAttribute(body, at, to);
    const value = at + ATTRIBUTE_HEADER_BYTES;
    const type = typeAt(body, at);
    if (type === ct.CTA_TUPLE_IP) readAddresses(body, { from: value, to: end }, into);
    else if (type === ct.CTA_TUPLE_PROTO) readPorts(body, { from: value, to: end }, into);
    else if (type === ct.CTA_TUPLE_ZONE) into.zone = body.readUInt16BE(value);
  }
}

function readAddresses(body: Buffer, { from, to }: Span, into: TupleDraft): void {
  for (let at = from, end = 0; at < to; at = (end + 3) & ~3) {
    end = endOfAttribute(body, at, to);
    const address = body.toString('latin1', at + ATTRIBUTE_HEADER_BYTES, end);
    const type = typeAt(body, at);
    if (type === ct.CTA_IP_V4_SRC || type === ct.CTA_IP_V6_SRC) into.source = address;
    else if (type === ct.CTA_IP_V4_DST || type === ct.CTA_IP_V6_DST) into.destination = address;
  }
}

function readPorts(body: Buffer, { from, to }: Span, into: TupleDraft): void {
  for (let at = from, end = 0; at < to; at = (end + 3) & ~3) {
    end = endOfAttribute(body, at, to);
    const value = at + ATTRIBUTE_HEADER_BYTES;
    const type = typeAt(body, at);
    if (type === ct.CTA_PROTO_NUM) into.protocol = body.readUInt8(value);
    else if (type === ct.CTA_PROTO_SRC_PORT) into.sourcePort = body.readUInt16BE(value);
    else if (type === ct.CTA_PROTO_DST_PORT) into.destinationPort = body.readUInt16BE(value);
  }
}

function readTcpState(body: Buffer, { from, to }: Span): number | undefined {
  if (from >= to || typeAt(body, from) !== ct.CTA_PROTOINFO_TCP) return undefined;
  const tcpEnd = endOfAttribute(body, from, to);
  for (let at = from + ATTRIBUTE_HEADER_BYTES, end = 0; at < tcpEnd; at = (end + 3) & ~3) {
    end = endOfAttribute(body, at, tcpEnd);
    if (typeAt(body, at) === ct.CTA_PROTOINFO_TCP_STATE) {
      return body.readUInt8(at + ATTRIBUTE_HEADER_BYTES);
    }
  }
  return undefined;
}

function readStart(body: Buffer, { from, to }: Span): number | undefined {
  if (from >= to || typeAt(body, from) !== ct.CTA_TIMESTAMP_START) return undefined;
  return Number(body.readBigUInt64BE(from + ATTRIBUTE_HEADER_BYTES) / NS_OF_MS);
}

function typeAt(body: Buffer, at: number): number {
  return body.readUInt16LE(at + 2) & TYPE_MASK;
}

/** Throws for an invalid length: a misread flow could lead to deleting another one. */
function endOfAttribute(body: Buffer, at: number, limit: number): number {
  const end = at + body.readUInt16LE(at);
  if (end < at + ATTRIBUTE_HEADER_BYTES || end > limit) {
    throw new RangeError(`attribute at ${at} ends at ${end}, beyond ${limit}`);
  }
  return end;
}
