/** One instruction: code, two registers of four bits, an offset of 16 bits and a number of 32. */
export const INSTRUCTION_BYTES = 8;

/** Takes two places; the second holds the upper half of the number. */
export const LOAD_64 = 0x18;
export const CALL = 0x85;
/** Kinds of immediate of a 64-bit load, in its source register. */
export const Source = { mapFd: 1, mapValue: 2, function: 4 } as const;
/** Kinds of call target, in the source register of a call. */
export const CallTo = { function: 1, kernelFunction: 2 } as const;

/** A helper that no kernel has. The verifier minds it only where it can be reached. */
export const NO_SUCH_HELPER = 0x0bad_2310;

export function codeAt(code: Buffer, at: number): number {
  return code.readUInt8(at * INSTRUCTION_BYTES);
}

export function sourceAt(code: Buffer, at: number): number {
  return code.readUInt8(at * INSTRUCTION_BYTES + 1) >> 4;
}

export function immediateAt(code: Buffer, at: number): number {
  return code.readInt32LE(at * INSTRUCTION_BYTES + 4);
}

export function setSource(code: Buffer, at: number, source: number): void {
  const place = at * INSTRUCTION_BYTES + 1;
  code.writeUInt8((code.readUInt8(place) & 0x0f) | (source << 4), place);
}

export function setImmediate32(code: Buffer, at: number, value: number): void {
  code.writeInt32LE(value | 0, at * INSTRUCTION_BYTES + 4);
}

export function setOffset(code: Buffer, at: number, value: number): void {
  code.writeInt16LE(value, at * INSTRUCTION_BYTES + 2);
}

/**
 * Replaces an instruction that this kernel does not support by one that fails verification if
 * reached.
 */
export function poison(code: Buffer, at: number): void {
  const words = codeAt(code, at) === LOAD_64 ? 2 : 1;
  for (let word = 0; word < words; word += 1) {
    const place = (at + word) * INSTRUCTION_BYTES;
    code.fill(0, place, place + INSTRUCTION_BYTES);
    code.writeUInt8(CALL, place);
    code.writeInt32LE(NO_SUCH_HELPER, place + 4);
  }
}
