import { formatIp } from '../../addresses/ip.ts';

/** A port that a socket of the host has. One that has it in both families is two. */
export interface BoundSocket {
  readonly family: 'IPv4' | 'IPv6';
  readonly protocol: 'TCP' | 'UDP';
  /** Canonical; empty: every address of the family. */
  readonly address: string;
  readonly port: number;
  /** By which its process can be found. */
  readonly inode: number;
}

/** `::ffff:0:0/96`: addresses of IPv4 that a socket of IPv6 has. */
const MAPPED_PREFIX = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);

/** Ports of a socket in each family. */
export function boundSockets(bound: {
  readonly protocol: BoundSocket['protocol'];
  /** 4 or 16 bytes. */
  readonly address: Uint8Array;
  readonly port: number;
  readonly inode: number;
  readonly ipv6Only: boolean;
}): BoundSocket[] {
  const { protocol, address, port, inode, ipv6Only } = bound;
  const at = (family: BoundSocket['family'], bytes: Uint8Array): BoundSocket => {
    const isEverywhere = bytes.every((byte) => byte === 0);
    const text = formatIp({ version: family === 'IPv4' ? 4 : 6, bytes });
    return { family, protocol, address: isEverywhere ? '' : text, port, inode };
  };
  if (address.length === 4) return [at('IPv4', address)];
  if (MAPPED_PREFIX.every((byte, index) => address[index] === byte)) {
    return [at('IPv4', address.subarray(MAPPED_PREFIX.length))];
  }
  const own = at('IPv6', address);
  return own.address === '' && !ipv6Only ? [own, at('IPv4', new Uint8Array(4))] : [own];
}
