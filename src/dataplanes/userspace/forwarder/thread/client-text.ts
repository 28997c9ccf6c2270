import { formatIp, parseIp } from '../../../../addresses/ip.ts';
import type { SocketAddress } from '../../../../linux/sockets/socket-address.ts';
import { ipv4Of } from './frontends.ts';
import type { Pair } from './pair.ts';

/** `address port`, as in listings. */
export function addressText({ address, port }: SocketAddress): string {
  return `${address} ${port}`;
}

export function readAddressText(text: string): SocketAddress {
  const space = text.indexOf(' ');
  return { address: text.slice(0, space), port: Number(text.slice(space + 1)) };
}

export function clientText(pair: Pair): string {
  return addressText({ address: clientAddress(pair), port: pair.clientPort });
}

export function clientAddress(pair: Pair): string {
  if (pair.isIPv6) {
    return formatIp({ version: 6, bytes: Buffer.from(pair.clientIPv6, 'latin1') });
  }
  const ip = pair.clientIPv4;
  return `${ip >>> 24}.${(ip >>> 16) & 0xff}.${(ip >>> 8) & 0xff}.${ip & 0xff}`;
}

/** The fields of a pair that hold its client. */
export function clientFields(
  text: string,
): Pick<Pair, 'isIPv6' | 'clientIPv4' | 'clientIPv6' | 'clientPort'> {
  const { address, port: clientPort } = readAddressText(text);
  const ip = parseIp(address);
  if (ip === undefined) throw new RangeError(`'${address}' is not an IP address`);
  return ip.version === 4
    ? { isIPv6: false, clientIPv4: ipv4Of(ip.bytes, 0), clientIPv6: '', clientPort }
    : {
        isIPv6: true,
        clientIPv4: 0,
        clientIPv6: Buffer.from(ip.bytes).toString('latin1'),
        clientPort,
      };
}
