import * as ct from './protocol.ts';
import type { FlowQuestion } from './question.ts';

const TYPE_MASK = 0x3fff;
/**
 * Where the kernel puts protocol and destination port of the original tuple, in each family, and
 * the status behind the reply tuple.
 */
const PLACES_V4 = { tuple: 4, ports: 28, protocol: 32, destinationPort: 48, end: 56, status: 108 };
const PLACES_V6 = { tuple: 4, ports: 52, protocol: 56, destinationPort: 72, end: 80, status: 156 };

/**
 * Whether a message may be about a requested flow, without decoding all of it: of 200,000 flows
 * nearly all are not. False only if that is certain; an unusual layout counts as a possible match.
 */
export function mayBeAskedFor(body: Buffer, question: FlowQuestion): boolean {
  const places = body[0] === ct.AF_INET ? PLACES_V4 : PLACES_V6;
  if (
    body.length < places.end ||
    typeAt(body, places.tuple) !== ct.CTA_TUPLE_ORIG ||
    typeAt(body, places.ports) !== ct.CTA_TUPLE_PROTO ||
    typeAt(body, places.protocol) !== ct.CTA_PROTO_NUM ||
    typeAt(body, places.destinationPort) !== ct.CTA_PROTO_DST_PORT
  ) {
    return true;
  }
  const protocol = body.readUInt8(places.protocol + 4);
  return (
    question.protocols.has(protocol) &&
    question.destinationPorts.has(body.readUInt16BE(places.destinationPort + 4)) &&
    !(question.unansweredTcpOnly && protocol === ct.PROTOCOL_TCP && isAnswered(body, places.status))
  );
}

function isAnswered(body: Buffer, statusAt: number): boolean {
  if (body.length < statusAt + 8 || typeAt(body, statusAt) !== ct.CTA_STATUS) return false;
  return (body.readUInt32BE(statusAt + 4) & ct.STATUS_SEEN_REPLY) !== 0;
}

function typeAt(body: Buffer, at: number): number {
  return body.readUInt16LE(at + 2) & TYPE_MASK;
}
