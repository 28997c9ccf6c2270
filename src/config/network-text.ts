import { isIPv6 } from 'node:net';
import { formatIp, type IpAddress, parseIpSloppily } from '../addresses/ip.ts';

/** Where a server listens. */
export interface ListenAddress {
  readonly ip: string;
  readonly port: number;
}

export function isUnspecified(ip: IpAddress): boolean {
  return ip.bytes.every((byte) => byte === 0);
}

/** Splits `10.0.0.1:80` and `[::1]:80`; the port may be anything but must be there. */
export function splitHostPort(text: string): { host: string; port: string } | undefined {
  const match = /^(?:\[([^\][]*)\]|([^:\][]*)):([^:\][]*)$/.exec(text);
  if (match === null) return undefined;
  return { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
}

/** Adds the port to an address that comes without one; returns any other text unchanged. */
export function withPort(text: string, port: number): string {
  if (splitHostPort(text) !== undefined || parseIpSloppily(text) === undefined) return text;
  return isIPv6(text) ? `[${text}]:${port}` : `${text}:${port}`;
}

export function parseListenAddress(text: string): ListenAddress | undefined {
  const parts = splitHostPort(text);
  const ip = parts === undefined ? undefined : parseIpSloppily(parts.host);
  if (parts === undefined || ip === undefined || !/^\d{1,5}$/.test(parts.port)) return undefined;
  const port = Number(parts.port);
  return port >= 1 && port <= 65_535 ? { ip: formatIp(ip), port } : undefined;
}
