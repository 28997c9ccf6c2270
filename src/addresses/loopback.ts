import { type IpAddress, parseIp } from './ip.ts';

export function isLoopbackAddress({ version, bytes }: IpAddress): boolean {
  if (version === 4) return bytes[0] === 127;
  return bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

export function isLoopbackIp(text: string): boolean {
  const address = parseIp(text);
  return address !== undefined && isLoopbackAddress(address);
}
