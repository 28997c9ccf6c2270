import { formatIp, type IpAddress, parseIpSloppily } from './ip.ts';

/** A range of addresses that share their first bits. */
export interface Cidr {
  readonly base: IpAddress;
  readonly prefixLength: number;
}

/** Reads `address/bits`; bits of the address beyond the prefix are dropped, as in Go's ParseCIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const digits = text.slice(slash + 1);
  if (slash < 0 || !/^\d{1,3}$/.test(digits)) return undefined;
  const address = parseIpSloppily(text.slice(0, slash));
  const prefixLength = Number(digits);
  if (address === undefined || prefixLength > address.bytes.length * 8) return undefined;
  return { base: { ...address, bytes: masked(address.bytes, prefixLength) }, prefixLength };
}

export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr.base)}/${cidr.prefixLength}`;
}

export function contains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.base.version !== address.version) return false;
  const network = masked(address.bytes, cidr.prefixLength);
  return network.every((byte, index) => byte === cidr.base.bytes[index]);
}

/** Those of the texts that are ranges. */
export function parseCidrs(texts: readonly string[]): Cidr[] {
  return texts.map(parseCidr).filter((range) => range !== undefined);
}

/** Leaves out a range inside another, because a kernel set of ranges rejects overlaps. Sorted. */
export function unionOf(texts: readonly string[]): string[] {
  const ranges = parseCidrs(texts);
  const isInside = (range: Cidr): boolean =>
    ranges.some((o) => o.prefixLength < range.prefixLength && contains(o, range.base));
  return [...new Set(ranges.filter((range) => !isInside(range)).map(formatCidr))].sort();
}

function masked(bytes: Uint8Array, prefixLength: number): Uint8Array {
  const kept = bytes.slice();
  for (let index = prefixLength >> 3; index < bytes.length; index++) {
    const bits = Math.max(0, prefixLength - index * 8);
    kept[index] = (bytes[index] ?? 0) & (0xff << (8 - bits));
  }
  return kept;
}
