import { type Cidr, contains, parseCidr } from '../../../../addresses/cidr.ts';
import { parseIp } from '../../../../addresses/ip.ts';
import { ipv4Number } from '../../../../addresses/ipv4-number.ts';

interface Ipv4Range {
  readonly base: number;
  readonly mask: number;
}

/** Where pods of the whole cluster have their addresses. */
export class PodNetwork {
  readonly #ipv4: readonly Ipv4Range[];
  readonly #ipv6: readonly Cidr[];

  constructor(ranges: readonly string[]) {
    const parsed = ranges.map(parseCidr).filter((range) => range !== undefined);
    this.#ipv4 = parsed.filter(({ base }) => base.version === 4).map(ipv4Range);
    this.#ipv6 = parsed.filter(({ base }) => base.version === 6);
  }

  has(address: string): boolean {
    const number = ipv4Number(address);
    if (number !== undefined) return this.#ipv4.some(({ base, mask }) => (number & mask) === base);
    const ip = parseIp(address);
    return ip !== undefined && this.#ipv6.some((range) => contains(range, ip));
  }
}

function ipv4Range({ base, prefixLength }: Cidr): Ipv4Range {
  // A shift by 32 would be one by 0.
  const mask = prefixLength === 0 ? 0 : -1 << (32 - prefixLength);
  return { base: Buffer.from(base.bytes).readInt32BE(0), mask };
}
