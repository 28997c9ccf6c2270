import { formatIp } from '../../../addresses/ip.ts';

/** Questions and answers of DNS (RFC 1035), as far as the addresses of one name need them. */

export const TYPE_A = 1;
export const TYPE_AAAA = 28;
export type AddressType = typeof TYPE_A | typeof TYPE_AAAA;

const CLASS_IN = 1;
const HEADER_BYTES = 12;
const RECURSION_DESIRED = 0x0100;
const RESPONSE = 0x8000;
const RCODE_MASK = 0x000f;
const POINTER = 0xc0;
const MOST_LABEL_BYTES = 63;
const RCODES: Readonly<Record<number, string>> = { 2: 'SERVFAIL', 3: 'NXDOMAIN', 5: 'REFUSED' };

export interface DnsQuestion {
  readonly id: number;
  readonly name: string;
  readonly type: AddressType;
}

export interface DnsAnswer {
  readonly addresses: readonly string[];
  /** Undefined: no error. Else its name, such as NXDOMAIN. */
  readonly error: string | undefined;
}

export function encodeQuestion({ id, name, type }: DnsQuestion): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const labels = name.split('.').filter((label) => label !== '');
  const encoded = labels.map((label) => {
    const bytes = Buffer.from(label).subarray(0, MOST_LABEL_BYTES);
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  });
  const tail = Buffer.alloc(5);
  tail.writeUInt16BE(type, 1);
  tail.writeUInt16BE(CLASS_IN, 3);
  return Buffer.concat([header, ...encoded, tail]);
}

/** Undefined: not an answer to the question. */
export function decodeAnswer(bytes: Buffer, { id, type }: DnsQuestion): DnsAnswer | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(0) !== id) return undefined;
  const flags = bytes.readUInt16BE(2);
  if ((flags & RESPONSE) === 0) return undefined;
  const code = flags & RCODE_MASK;
  const error = code === 0 ? undefined : (RCODES[code] ?? `RCODE ${code}`);
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt16BE(4); left > 0; left--) at = afterName(bytes, at) + 4;
  const addresses: string[] = [];
  for (let left = bytes.readUInt16BE(6); left > 0; left--) {
    at = afterName(bytes, at);
    if (at + 10 > bytes.length) break;
    const length = bytes.readUInt16BE(at + 8);
    const data = bytes.subarray(at + 10, at + 10 + length);
    if (bytes.readUInt16BE(at) === type) addresses.push(...addressOf(data));
    at += 10 + length;
  }
  return { addresses, error };
}

/** The offset after a name, which ends with an empty label or a pointer. */
function afterName(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const length = bytes[at] ?? 0;
    if (length === 0) return at + 1;
    if ((length & POINTER) === POINTER) return at + 2;
    at += 1 + length;
  }
  return bytes.length;
}

function addressOf(data: Buffer): string[] {
  if (data.length === 4) return [formatIp({ version: 4, bytes: new Uint8Array(data) })];
  return data.length === 16 ? [formatIp({ version: 6, bytes: new Uint8Array(data) })] : [];
}
