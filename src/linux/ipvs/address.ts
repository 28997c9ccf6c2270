import { formatIp, parseIp } from '../../addresses/ip.ts';
import { ipv4Number } from '../../addresses/ipv4-number.ts';
import * as ipvs from './ipvs-protocol.ts';

/** IPVS has addresses of both families in 16 bytes; those of IPv4 at the begin. */
export const ADDRESS_BYTES = 16;

/** Fills the 16 bytes; gives the address family. Throws for what is no address. */
export function fillAddress(into: Uint8Array, text: string): number {
  into.fill(0);
  const number = ipv4Number(text);
  if (number !== undefined) {
    for (let i = 0; i < 4; i++) into[i] = number >>> (24 - 8 * i);
    return ipvs.AF_INET;
  }
  const address = parseIp(text);
  if (address === undefined) throw new RangeError(`${text} is no IP address`);
  into.set(address.bytes);
  return address.version === 4 ? ipvs.AF_INET : ipvs.AF_INET6;
}

export function addressText(family: number, bytes: Uint8Array): string {
  if (family === ipvs.AF_INET) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  return formatIp({ version: 6, bytes: bytes.subarray(0, ADDRESS_BYTES) });
}
