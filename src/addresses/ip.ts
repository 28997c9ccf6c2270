import { isIPv4, isIPv6 } from 'node:net';
import { ipv4Number } from './ipv4-number.ts';
import { ipv6Groups, isMappedIpv4 } from './ipv6-groups.ts';

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
  const groups = ipv6Groups(text) ?? groupsWithIpv4(text);
  if (groups === undefined) return undefined;
  const bytes = groupBytes(groups);
  return isMappedIpv4(groups) ? { version: 4, bytes: bytes.slice(12) } : { version: 6, bytes };
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
  if (isCanonicalIpv6(text)) return { address: text, version: 6 };
  const ip = parseIpSloppily(text);
  if (ip === undefined) return undefined;
  const canonical = formatIp(ip);
  return { address: canonical === text ? text : canonical, version: ip.version };
}

/** Whether an address is in its canonical spelling already, as the API server writes it. */
function isCanonicalIpv6(text: string): boolean {
  const groups = ipv6Groups(text);
  if (groups === undefined || isMappedIpv4(groups)) return false;
  if (text.includes('::')) return groupsText(groups) === text;
  const length = groups.reduce((sum, group) => sum + digitsOf(group), groups.length - 1);
  return text.length === length && longestZeroRun(groups).length < 2 && !/[A-F]/.test(text);
}

function digitsOf(group: number): number {
  if (group < 0x10) return 1;
  if (group < 0x100) return 2;
  return group < 0x1000 ? 3 : 4;
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

/** Of an address that ends in an IPv4 address, such as `64:ff9b::192.0.2.33`. */
function groupsWithIpv4(text: string): readonly number[] | undefined {
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const at = text.lastIndexOf(':') + 1;
  const number = ipv4Number(text.slice(at)) ?? 0;
  const end = `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
  return ipv6Groups(text.slice(0, at) + end);
}

function groupBytes(groups: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(2 * groups.length);
  for (const [index, group] of groups.entries()) {
    bytes[2 * index] = group >>> 8;
    bytes[2 * index + 1] = group;
  }
  return bytes;
}

function formatIpv6(bytes: Uint8Array): string {
  return groupsText(
    Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)),
  );
}

function groupsText(groups: readonly number[]): string {
  const zeros = longestZeroRun(groups);
  if (zeros.length < 2) return joined(groups, 0, groups.length);
  const end = zeros.start + zeros.length;
  return `${joined(groups, 0, zeros.start)}::${joined(groups, end, groups.length)}`;
}

function joined(groups: readonly number[], from: number, to: number): string {
  let text = '';
  for (let index = from; index < to; index++) {
    text += `${index === from ? '' : ':'}${groups[index]?.toString(16)}`;
  }
  return text;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}
