import { ImageError } from './image-error.ts';

/** What a program or library says about how it is to be loaded. */
export interface Linkage {
  /** The loader, as a path; libraries have none. */
  readonly interpreter: string | undefined;
  /** Names of libraries, such as `libc.so.6`. */
  readonly needed: readonly string[];
}

const MAGIC = 0x7f454c46;
const CLASS_64_LITTLE = 0x0201;
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;
const DYNAMIC_ENTRY_BYTES = 16;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads a 64-bit little-endian ELF file; ldd would run it, and finds only what is installed. */
export function readLinkage(elf: Buffer, name: string): Linkage {
  if (elf.length < 64 || elf.readUInt32BE(0) !== MAGIC || elf.readUInt16BE(4) !== CLASS_64_LITTLE) {
    throw new ImageError(
      'IMAGE_NOT_ELF',
      `${name} is not a 64-bit little-endian ELF file`,
      'make the image on x64 or arm64',
    );
  }
  const all = segments(elf);
  const interpreter = all.find(({ type }) => type === PT_INTERP);
  return {
    interpreter: interpreter && textAt(elf, interpreter.offset),
    needed: neededNames(elf, all),
  };
}

function segments(elf: Buffer): Segment[] {
  const start = Number(elf.readBigUInt64LE(32));
  const size = elf.readUInt16LE(54);
  const count = elf.readUInt16LE(56);
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return {
      type: elf.readUInt32LE(at),
      offset: Number(elf.readBigUInt64LE(at + 8)),
      address: Number(elf.readBigUInt64LE(at + 16)),
      size: Number(elf.readBigUInt64LE(at + 32)),
    };
  });
}

function neededNames(elf: Buffer, all: readonly Segment[]): string[] {
  const dynamic = all.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return [];
  const nameOffsets: number[] = [];
  let table = 0;
  const end = dynamic.offset + dynamic.size;
  for (let at = dynamic.offset; at < end; at += DYNAMIC_ENTRY_BYTES) {
    const tag = elf.readBigInt64LE(at);
    const value = Number(elf.readBigUInt64LE(at + 8));
    if (tag === DT_NEEDED) nameOffsets.push(value);
    if (tag === DT_STRTAB) table = offsetOf(value, all);
  }
  return nameOffsets.map((offset) => textAt(elf, table + offset));
}

/** Where in the file lies what will be at this address in memory. */
function offsetOf(address: number, all: readonly Segment[]): number {
  const segment = all.find(
    (each) =>
      each.type === PT_LOAD && address >= each.address && address < each.address + each.size,
  );
  return segment === undefined ? address : address - segment.address + segment.offset;
}

function textAt(elf: Buffer, offset: number): string {
  return elf.toString('utf8', offset, elf.indexOf(0, offset));
}
