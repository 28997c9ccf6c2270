import { formatIp, parseIp } from '../../addresses/ip.ts';

/**
 * An address as the kernel has it, 4 or 16 bytes, in a string of one character each. Table walks
 * meet hundreds of thousands of them, and a string can be the key of a map.
 */
export type AddressBytes = string;

/** Undefined: the text is no address. */
export function addressBytes(text: string): AddressBytes | undefined {
  const address = parseIp(text);
  return address && Buffer.from(address.bytes).toString('latin1');
}

export function addressText(bytes: AddressBytes): string {
  const version = bytes.length === 4 ? 4 : 6;
  return formatIp({ version, bytes: Buffer.from(bytes, 'latin1') });
}
