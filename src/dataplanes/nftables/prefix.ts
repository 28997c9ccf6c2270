import type { Binary } from '../../linux/nftables/userdata.ts';

/** How many bits the first and the last address of a range have in common. */
export function prefixLengthBetween(first: Binary, last: Binary): number {
  for (let i = 0; i < first.length; i++) {
    const difference = first.charCodeAt(i) ^ last.charCodeAt(i);
    if (difference !== 0) return i * 8 + Math.clz32(difference) - 24;
  }
  return first.length * 8;
}

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
