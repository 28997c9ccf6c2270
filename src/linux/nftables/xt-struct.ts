import type { Binary } from './userdata.ts';

/** Fields of structs are in the byte order of the machine, which is little-endian. */
export function host16(value: number): Binary {
  return String.fromCharCode(value & 0xff, (value >>> 8) & 0xff);
}

export function host32(value: number): Binary {
  return host16(value & 0xffff) + host16(value >>> 16);
}

/** With zeros at its end. */
export function filled(value: Binary, byteLength: number): Binary {
  return value.padEnd(byteLength, '\0');
}
