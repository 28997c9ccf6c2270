/** Numbers of attributes; undefined where there is none, or fewer bytes than it takes. */

export function unsigned32(value: Buffer | undefined): number | undefined {
  return value === undefined || value.length < 4 ? undefined : value.readUInt32BE(0);
}

export function signed32(value: Buffer | undefined): number | undefined {
  return value === undefined || value.length < 4 ? undefined : value.readInt32BE(0);
}

export function unsigned64(value: Buffer | undefined): bigint | undefined {
  return value === undefined || value.length < 8 ? undefined : value.readBigUInt64BE(0);
}
