import type { Binary } from '../../../linux/nftables/userdata.ts';

export function prefixMask(prefixLength: number, byteLength: number): Binary {
  return binary(
    Uint8Array.from({ length: byteLength }, (_, index) => {
      const bits = Math.min(8, Math.max(0, prefixLength - index * 8));
      return (0xff << (8 - bits)) & 0xff;
    }),
  );
}

export function binary(bytes: Uint8Array): Binary {
  return String.fromCharCode(...bytes);
}
