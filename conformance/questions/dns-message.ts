import { formatIp } from '../../src/addresses/ip.ts';

const TYPES = { ipv4: 1, ipv6: 28 } as const;
const CLASS_INTERNET = 1;
const HEADER_BYTES = 12;
const RECURSION_DESIRED = 0x0100;
/** Type, class, time to live and length, which follow the name of a record. */
const RECORD_HEAD_BYTES = 10;

/** A question for the addresses of a name in one family (RFC 1035, section 4.1). */
export function dnsQuery(id: number, name: string, family: keyof typeof TYPES): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  const end = Buffer.from([0, 0, TYPES[family], 0, CLASS_INTERNET]);
  return Buffer.concat([header, ...labels, end]);
}

/** The addresses in an answer to that question; undefined: it is not an answer to it. */
export function dnsAddresses(id: number, message: Buffer): string[] | undefined {
  if (message.length < HEADER_BYTES || message.readUInt16BE(0) !== id) return undefined;
  let at = HEADER_BYTES;
  for (let left = message.readUInt16BE(4); left > 0; left--) at = afterName(message, at) + 4;
  const addresses: string[] = [];
  for (let left = message.readUInt16BE(6); left > 0; left--) {
    at = afterName(message, at);
    const type = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 8);
    at += RECORD_HEAD_BYTES;
    const bytes = message.subarray(at, at + length);
    if (type === TYPES.ipv4) addresses.push(formatIp({ version: 4, bytes }));
    if (type === TYPES.ipv6) addresses.push(formatIp({ version: 6, bytes }));
    at += length;
  }
  return addresses;
}

/** A name is labels up to an empty one, or up to a pointer of two bytes. */
function afterName(message: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = message.readUInt8(at);
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
  }
}
