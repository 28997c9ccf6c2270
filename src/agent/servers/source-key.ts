import { parseIp } from '../../addresses/ip.ts';

const LOCAL = 'local';
const NETWORK_BYTES = 8;

/**
 * Clients with one IPv4 address or in one IPv6 /64, which a single machine usually has, count as
 * one source. `remoteAddress` is undefined for a Unix socket.
 */
export function sourceKey(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return LOCAL;
  const [withoutZone = ''] = remoteAddress.split('%', 1);
  const address = parseIp(withoutZone);
  if (address === undefined) return withoutZone;
  if (address.version === 4) return address.bytes.join('.');
  return Buffer.from(address.bytes.subarray(0, NETWORK_BYTES)).toString('hex');
}
