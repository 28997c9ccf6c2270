import { isIPv4, isIPv6 } from 'node:net';
import { ipv4Number } from './ipv4-number.ts';

/** An IP address as its bytes: 4 for IPv4, 16 for IPv6. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly bytes: Uint8Array;
}

/**
 * Reads an address strictly: no leading zeros, no zone, no abbreviated IPv4.
 * An IPv4 address written the IPv6 way (`::ffff:10.0.0.1`) is the IPv4 address, as a dual-stack
 * socket reports its IPv4 peers.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { version: 4, bytes: parseIpv4(text) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const bytes = parseIpv6(text);
  return isMappedIpv4(bytes) ? { version: 4, bytes: bytes.slice(12) } : { version: 6, bytes };
}

/**
 * Reads an address as Kubernetes still does for objects of old: leading zeros of IPv4 are decimal
 * (`010.0.0.1` is 10.0.0.1), not octal as in many libraries.
 */
export function parseIpSloppily(text: string): IpAddress | undefined {
  const strict = parseIp(text);
  if (strict !== undefined || !/^[0-9.]+$/.test(text)) return strict;
  return parseIp(text.replace(/(^|\.)0+(?=\d)/g, '$1'));
}

/**
 * The canonical spelling and the version of an address as Kubernetes reads it. Returns the text
 * itself where it is canonical already, so that a quarter of a million endpoints get no second
 * copy.
 */
export function normalizeIp(text: string): { address: string; version: 4 | 6 } | undefined {
  if (isIPv4(text)) return { address: text, version: 4 };
  const ip = parseIpSloppily(text);
  if (ip === undefined) return undefined;
  const canonical = formatIp(ip);
  return { address: canonical === text ? text : canonical, version: ip.version };
}

/** The canonical text: dotted for IPv4, RFC 5952 for IPv6. */
export function formatIp(address: IpAddress): string {
  return address.version === 4 ? address.bytes.join('.') : formatIpv6(address.bytes);
}

/** The one spelling of an address, so that equal addresses are equal strings. */
export function canonicalIp(text: string): string | undefined {
  const address = parseIp(text);
  return address === undefined ? undefined : formatIp(address);
}

function parseIpv4(text: string): Uint8Array {
  const number = ipv4Number(text) ?? 0;
  const bytes = new Uint8Array(4);
  for (let i = 0; i < 4; i++) bytes[i] = number >>> (24 - 8 * i);
  return bytes;
}

function parseIpv6(text: string): Uint8Array {
  const [head = '', tail] = text.split('::');
  const left = groupBytes(head);
  const right = groupBytes(tail ?? '');
  const bytes = new Uint8Array(16);
  bytes.set(left, 0);
  bytes.set(right, 16 - right.length);
  return bytes;
}

function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return [...parseIpv4(group)];
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function isMappedIpv4(bytes: Uint8Array): boolean {
  return bytes[10] === 0xff && bytes[11] === 0xff && bytes.slice(0, 10).every((b) => b === 0);
}

function formatIpv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => {
    const value = ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0);
    return value.toString(16);
  });
  const zeros = longestZeroRun(groups);
  if (zeros.length < 2) return groups.join(':');
  const head = groups.slice(0, zeros.start).join(':');
  const tail = groups.slice(zeros.start + zeros.length).join(':');
  return `${head}::${tail}`;
}

function longestZeroRun(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === '0') continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}
